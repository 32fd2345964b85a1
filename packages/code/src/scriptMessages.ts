import type { Script, ScriptAnswer, ScriptStep } from './engine.ts'

/** Addresses of the engine's code, which the worker of scripts loads itself. */
export interface ScriptWorkerData {
  readonly module: string
  readonly wasm: string
}

/** To the worker. Each `begin` and `answer` is answered by one `ran`, in their order. */
export type ToScript =
  | { readonly type: 'begin'; readonly id: number; readonly script: Script }
  | { readonly type: 'answer'; readonly id: number; readonly answer: ScriptAnswer }
  | { readonly type: 'stop'; readonly id: number }

/** From the worker. */
export type FromScript =
  | { readonly type: 'ready' }
  /** It computes. */
  | { readonly type: 'alive' }
  | { readonly type: 'ran'; readonly id: number; readonly step: ScriptStep }
