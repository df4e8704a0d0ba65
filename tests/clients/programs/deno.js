// Runs the WebGPU program with Deno's own WebGPU.
import { main } from "./webgpu.js";

await main(navigator.gpu, (name, bytes) => Deno.writeFileSync(name, bytes));
