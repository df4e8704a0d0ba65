// Dawn, the WebGPU of Chromium, as a module of Node.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

// The package lies in the folder of installed ones, not beside this file.
const { create, globals } = await import(createRequire(process.env.CLIENT_MODULES + "/").resolve("webgpu"));
Object.assign(globalThis, globals);
const { main } = await import("./webgpu.js");
await main(create(["backend=vulkan"]), writeFileSync);
