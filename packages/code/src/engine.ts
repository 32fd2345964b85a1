/** A script as an engine gets it. It reaches nothing but its tools. */
export interface Script {
  /** Body of an async function. TypeScript, as far as its types only have to be taken away. */
  readonly text: string
  /** Names of the tools that it finds. */
  readonly tools: readonly string[]
  /** 16 hexadecimal digits or more, from which its random numbers come. */
  readonly seed: string
  /** Its time, in epoch milliseconds, until it is given the first result. */
  readonly at: number
  readonly limits: ScriptLimits
}

/** Limits of one script. */
export interface ScriptLimits {
  /** Milliseconds for which it may compute, without those for which it waits. */
  readonly cpuMs: number
  /** Memory in bytes. */
  readonly bytes: number
  /** Number of calls. */
  readonly calls: number
  /** Length of each value that goes in or out, as JSON. */
  readonly valueChars: number
  /** Length of what it prints; the rest is dropped. */
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

/** Result of a call as the script is given it: JSON, or an error. */
export interface ScriptAnswer {
  readonly n: number
  /** The time of the script from now on, in epoch milliseconds. */
  readonly at: number
  readonly result:
    | { readonly ok: true; readonly json: string }
    | { readonly ok: false; readonly message: string; readonly code?: string | undefined }
}

/** How a script ended: with JSON, with nothing, or with what its author reads. */
export type ScriptEnd =
  | { readonly ok: true; readonly json?: string | undefined }
  | { readonly ok: false; readonly error: string }

/** Calls and words of a script since it was last heard of; it has nothing left to do until it is given a result. */
export interface ScriptStep {
  readonly calls: readonly ScriptCall[]
  readonly printed: string
  /** Set once it is over. */
  readonly end?: ScriptEnd
}

export interface ScriptListener {
  ran(step: ScriptStep): void
  /** The engine lost it. `error`: because of what this script did. Without one it may begin again. */
  lost(error?: string): void
}

export interface OpenScript {
  /** Gives it the result of a call, once, while it has nothing left to do. */
  answer(answer: ScriptAnswer): void
  /** Ends it; its listener hears no more. Idempotent. */
  stop(): void
}

/**
 * Runs scripts. Contract: a script that is given the same results in the same order makes the same calls and ends in the same way; its clock
 * and its random numbers come from `Script` and `ScriptAnswer` alone. Nothing that a script does holds the thread of the caller.
 */
export interface CodeEngine {
  /** Begins a script. Its listener hears of it later, never at once. */
  open(script: Script, listener: ScriptListener): OpenScript
  /** Ends what it holds open: all scripts are lost. Idempotent. */
  close(): Promise<void>
}
