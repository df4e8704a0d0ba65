/* Replaces Wine's list of graphics adapters (DXGI) for the loader. The function tables come from the system's header,
 * so the tests also check the loader's offsets in these tables. */
#pragma once
#define COBJMACROS
#include <initguid.h>
#include <dxgi1_6.h>

#define MOST_ADAPTERS 4
/* `count` is the number of adapters, or -1 for the real adapters. `vendors` and `luids` contain the vendor IDs and the
 * LUIDs of the adapters. `held` is the number of objects that the loader must still release. If nonzero, `undescribed`
 * makes the description of an adapter fail, `endless` makes the list endless, and `failing` makes the creation of a
 * factory fail. `listed` is the number of queries for an adapter. */
static struct { int count; UINT vendors[MOST_ADAPTERS]; LUID luids[MOST_ADAPTERS]; int held, undescribed, endless, listed, failing; } graphics = {.count = -1};

struct adapter_object { const IDXGIAdapter1Vtbl *functions; int number; };

static ULONG STDMETHODCALLTYPE adapter_release(IDXGIAdapter1 *this) { return (void)this, graphics.held--, 0; }
static HRESULT STDMETHODCALLTYPE adapter_describe(IDXGIAdapter1 *this, DXGI_ADAPTER_DESC1 *out) {
    const int number = ((struct adapter_object *)this)->number;
    memset(out, 0, sizeof *out);
    out->VendorId = graphics.vendors[number], out->AdapterLuid = graphics.luids[number];
    return graphics.undescribed ? E_FAIL : S_OK;
}
static const IDXGIAdapter1Vtbl adapter_functions = {.Release = adapter_release, .GetDesc1 = adapter_describe};
static struct adapter_object graphics_adapters[MOST_ADAPTERS] = {
    {&adapter_functions, 0}, {&adapter_functions, 1}, {&adapter_functions, 2}, {&adapter_functions, 3}};

static ULONG STDMETHODCALLTYPE factory_release(IDXGIFactory6 *this) { return (void)this, graphics.held--, 0; }
static HRESULT STDMETHODCALLTYPE factory_adapter(IDXGIFactory6 *this, UINT index, IDXGIAdapter1 **out) {
    (void)this;
    graphics.listed++;
    /* The list ends after many calls, so that a loader without a limit ends too. */
    if (graphics.endless && graphics.listed < 200000)
        index %= graphics.count;
    if ((int)index >= graphics.count)
        return *out = NULL, DXGI_ERROR_NOT_FOUND;
    return *out = (IDXGIAdapter1 *)&graphics_adapters[index], graphics.held++, S_OK;
}
static HRESULT STDMETHODCALLTYPE factory_by_preference(IDXGIFactory6 *this, UINT index, DXGI_GPU_PREFERENCE which, REFIID kind, void **out) {
    if (which != DXGI_GPU_PREFERENCE_UNSPECIFIED || !IsEqualGUID(kind, &IID_IDXGIAdapter1))
        return E_INVALIDARG;
    return factory_adapter(this, index, (IDXGIAdapter1 **)out);
}
static const IDXGIFactory6Vtbl factory_functions = {
    .Release = factory_release, .EnumAdapters1 = factory_adapter, .EnumAdapterByGpuPreference = factory_by_preference};
static const IDXGIFactory6Vtbl *graphics_factory = &factory_functions;

static HRESULT WINAPI create_factory(REFIID kind, void **out) {
    if (!IsEqualGUID(kind, &IID_IDXGIFactory1) && !IsEqualGUID(kind, &IID_IDXGIFactory6))
        return *out = NULL, E_NOINTERFACE;
    *out = &graphics_factory;
    /* The function sets the pointer even if it fails. Callers must then ignore the pointer. */
    return graphics.failing ? E_FAIL : (graphics.held++, S_OK);
}

/* Uses the adapters of the system. If Wine cannot list adapters, uses one simulated adapter. */
static void usual_adapters(void) {
    static int are_listed = -1;
    if (are_listed < 0) {
        HRESULT(WINAPI *create)(REFIID, void **) = (void *)GetProcAddress(LoadLibraryW(L"dxgi.dll"), "CreateDXGIFactory1");
        IDXGIFactory1 *factory = NULL;
        are_listed = create && SUCCEEDED(create(&IID_IDXGIFactory1, (void **)&factory));
        if (are_listed)
            IDXGIFactory1_Release(factory);
        else
            printf("      the system lists no adapters, so one of this program's own stands in\n");
    }
    graphics.count = are_listed ? -1 : 1;
    graphics.vendors[0] = 0x10DE;
}
