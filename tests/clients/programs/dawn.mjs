// Loads Dawn, the WebGPU implementation of Chromium, as a module of Node.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

// The package is in the folder of installed packages, and not beside this file.
const { create, globals } = await import(createRequire(process.env.CLIENT_MODULES + "/").resolve("webgpu"));
Object.assign(globalThis, globals);
const { main } = await import("./webgpu.js");
await main(create(["backend=vulkan"]), writeFileSync);
