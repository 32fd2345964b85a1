import { readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../../src/protocol/errors.ts'
import type { ScriptStep } from './engine.ts'
import { ScriptInstance, type InstanceParts } from './scriptInstance.ts'
import type { FromScript, ScriptWorkerData, ToScript } from './scriptMessages.ts'

// The thread that runs all scripts of a process, started by QuickJsEngine. One message is worked on after the other.
const post = (message: FromScript): void => parentPort?.postMessage(message)
const { module, wasm }: ScriptWorkerData = workerData
// The compiler knows it in browsers alone.
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly Module: new (bytes: Uint8Array) => InstanceParts['wasm'] }
}
const parts: InstanceParts = {
  module: await import(module),
  wasm: new WebAssembly.Module(await readFile(new URL(wasm))),
  alive: () => post({ type: 'alive' }),
}
const scripts = new Map<number, ScriptInstance>()
const stopped = new Set<number>()
let last: Promise<unknown> = Promise.resolve()

const nothing: ScriptStep = { calls: [], printed: '' }

async function carryOut(message: Exclude<ToScript, { type: 'stop' }>): Promise<ScriptStep> {
  const { id } = message
  if (stopped.has(id)) return nothing
  if (message.type === 'answer') return (await scripts.get(id)?.answer(message.answer)) ?? nothing
  const instance = await ScriptInstance.create(message.script, parts)
  scripts.set(id, instance)
  return instance.begin()
}

async function handle(message: ToScript): Promise<void> {
  const { id } = message
  if (message.type === 'stop') {
    scripts.delete(id)
    stopped.delete(id)
    return
  }
  const step = await carryOut(message).catch((thrown: unknown): ScriptStep => {
    const error = `The engine failed: ${messageOf(thrown)}`
    return { ...nothing, end: { ok: false, error } }
  })
  // An instance that is over is let go of, with all it holds.
  if (step.end !== undefined) scripts.delete(id)
  post({ type: 'ran', id, step })
}

parentPort?.on('message', (message: ToScript) => {
  if (message.type === 'stop') stopped.add(message.id)
  last = last.then(() => handle(message))
})
post({ type: 'ready' })
