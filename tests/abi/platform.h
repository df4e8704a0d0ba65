/* Includes every Vulkan header on a machine that may lack the headers of the window systems. This file declares the
 * types of the window systems in place of those headers. The types need only the correct sizes, and must be
 * distinct. */
#include <stddef.h>
#include <stdint.h>

typedef struct xcb_connection_t xcb_connection_t;
typedef uint32_t xcb_window_t;
typedef uint32_t xcb_visualid_t;
typedef struct _XDisplay Display;
typedef unsigned long Window;
typedef unsigned long VisualID;
typedef unsigned long RROutput;
struct wl_display;
struct wl_surface;
typedef struct IDirectFB IDirectFB;
typedef struct IDirectFBSurface IDirectFBSurface;
struct _screen_context;
struct _screen_window;
struct _screen_buffer;
typedef void *HANDLE, *HINSTANCE, *HWND, *HMONITOR;
typedef const uint16_t *LPCWSTR;
typedef unsigned long DWORD;
typedef uint64_t LUID; /* a structure of 8 bytes in Windows, which calls pass like a number */
typedef struct _SECURITY_ATTRIBUTES SECURITY_ATTRIBUTES;
typedef uint32_t zx_handle_t;
typedef uint32_t GgpStreamDescriptor;
typedef uint32_t GgpFrameToken;

#define VK_ENABLE_BETA_EXTENSIONS
#include <vulkan/vulkan.h>

#include <vulkan/vulkan_android.h>
#include <vulkan/vulkan_beta.h>
#include <vulkan/vulkan_directfb.h>
#include <vulkan/vulkan_fuchsia.h>
#include <vulkan/vulkan_ggp.h>
#include <vulkan/vulkan_ios.h>
#include <vulkan/vulkan_macos.h>
#include <vulkan/vulkan_metal.h>
#include <vulkan/vulkan_screen.h>
#include <vulkan/vulkan_vi.h>
#include <vulkan/vulkan_wayland.h>
#include <vulkan/vulkan_win32.h>
#include <vulkan/vulkan_xcb.h>
#include <vulkan/vulkan_xlib.h>
#include <vulkan/vulkan_xlib_xrandr.h>

/* The platform macros come after the includes, so that vulkan.h includes no header of a platform. */
#define VK_USE_PLATFORM_ANDROID_KHR
#define VK_USE_PLATFORM_DIRECTFB_EXT
#define VK_USE_PLATFORM_FUCHSIA
#define VK_USE_PLATFORM_GGP
#define VK_USE_PLATFORM_IOS_MVK
#define VK_USE_PLATFORM_MACOS_MVK
#define VK_USE_PLATFORM_METAL_EXT
#define VK_USE_PLATFORM_SCREEN_QNX
#define VK_USE_PLATFORM_VI_NN
#define VK_USE_PLATFORM_WAYLAND_KHR
#define VK_USE_PLATFORM_WIN32_KHR
#define VK_USE_PLATFORM_XCB_KHR
#define VK_USE_PLATFORM_XLIB_KHR
#include <vulkan/vk_icd.h>
#include <vulkan/vk_layer.h>
