/** A script as an engine receives it. It has access only to its tools. */
export interface Script {
  /** Body of an async function. TypeScript is accepted if removing its types is enough. */
  readonly text: string
  /** Names of the tools available to the script. */
  readonly tools: readonly string[]
  /** Seed of the script's random numbers, at least 16 hexadecimal digits. */
  readonly seed: string
  /** The script's time, in epoch milliseconds, until its first result. */
  readonly at: number
  readonly limits: ScriptLimits
}

/** Limits of one script. */
export interface ScriptLimits {
  /** Milliseconds of computing, without waiting. */
  readonly cpuMs: number
  /** Maximum memory in bytes. */
  readonly bytes: number
  /** Maximum number of calls. */
  readonly calls: number
  /** Maximum length of each value that goes in or out, in characters of JSON. */
  readonly valueChars: number
  /** Maximum length of the printed text in characters. The rest is dropped. */
  readonly printChars: number
}

/** A tool that a script calls. */
export interface ScriptCall {
  /** Place among the calls of the script, from 1. */
  readonly n: number
  readonly name: string
  /** The arguments as JSON. */
  readonly json: string
}

/** Result of a call as the script receives it: JSON, or an error. */
export interface ScriptAnswer {
  readonly n: number
  /** Time of the script from now on, in epoch milliseconds. */
  readonly at: number
  readonly result:
    | { readonly ok: true; readonly json: string }
    | { readonly ok: false; readonly message: string; readonly code?: string | undefined }
}

/** The end of a script: with JSON, with nothing, or with an error for its author. */
export type ScriptEnd =
  | { readonly ok: true; readonly json?: string | undefined }
  | { readonly ok: false; readonly error: string }

/** New calls and printed text of a script, which has nothing left to do until its next result. */
export interface ScriptStep {
  readonly calls: readonly ScriptCall[]
  readonly printed: string
  /** The end of the script. Set once it is over. */
  readonly end?: ScriptEnd
}

export interface ScriptListener {
  ran(step: ScriptStep): void
  /** Called when the engine lost the script. `error`: the script itself caused it. Without `error` it may begin again. */
  lost(error?: string): void
}

export interface OpenScript {
  /** Gives the script the result of a call, once, while it has nothing left to do. */
  answer(answer: ScriptAnswer): void
  /** Ends the script, whose listener is called no more. Idempotent. */
  stop(): void
}

/**
 * Runs scripts. Contract: a script that is given the same results in the same order makes the same calls and ends in the same way; its clock
 * and its random numbers come from `Script` and `ScriptAnswer` alone. Nothing that a script does holds the thread of the caller.
 */
export interface CodeEngine {
  /** Begins a script. Its listener is called later, never synchronously. */
  open(script: Script, listener: ScriptListener): OpenScript
  /** Closes the engine: all scripts are lost. Idempotent. */
  close(): Promise<void>
}
