import type { Script, ScriptAnswer, ScriptStep } from './engine.ts'

/** Addresses of the engine's code, which the worker of scripts loads itself. */
export interface ScriptWorkerData {
  readonly module: string
  readonly wasm: string
}

/** Messages to the worker. Each `begin` and `answer` is answered by one `ran`, in order. */
export type ToScript =
  | { readonly type: 'begin'; readonly id: number; readonly script: Script }
  | { readonly type: 'answer'; readonly id: number; readonly answer: ScriptAnswer }
  | { readonly type: 'stop'; readonly id: number }

/** Messages from the worker. */
export type FromScript =
  | { readonly type: 'ready' }
  /** Heartbeat of a computing worker. */
  | { readonly type: 'alive' }
  | { readonly type: 'ran'; readonly id: number; readonly step: ScriptStep }
