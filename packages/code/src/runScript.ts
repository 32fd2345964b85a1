import type { CodeEngine, OpenScript, Script, ScriptAnswer, ScriptCall, ScriptEnd, ScriptStep } from './engine.ts'

/** Recorded calls of a script from earlier executions. */
export interface KnownCalls {
  /** Name of each call and fingerprint of its arguments, by the call's place. */
  readonly starts: ReadonlyMap<number, { readonly name: string; readonly print: string }>
  /** Results in the order of their records. */
  readonly ends: readonly ScriptAnswer[]
}

/** Work on a script. */
export interface ScriptRun {
  readonly engine: CodeEngine
  readonly script: Script
  /** Maximum number of calls under way at once. The others wait. */
  readonly atOnce: number
  readonly known: KnownCalls
  /** Returns a fingerprint that distinguishes the arguments of calls. Pure. */
  print(json: string): string
  /**
   * Carries a call out. `ended` is called with the result, once, in the order in which the results of all calls are
   * recorded. Resolves once the result is durable. Rejects if it never will be, which ends the script.
   */
  call(call: ScriptCall, ended: (answer: ScriptAnswer) => void): Promise<void>
  /** Called when the script is over: its calls continue, but no sleep does. */
  over(): void
  /** Called with all text printed so far. */
  printed(text: string): void
  /** Called with `true` while the script can do nothing until its next result. */
  idle(isIdle: boolean): void
  readonly signal: AbortSignal
}

/** The end of a script, with all its printed text. */
export type ScriptOutcome = ScriptEnd & { readonly printed: string }

/** A result with its place in the record. */
interface Recorded {
  readonly answer: ScriptAnswer
  isDurable: boolean
}

/**
 * Runs a script to its end, and the calls that it made to theirs. A script that has run before is given the same results in the same order:
 * one at a time, in the order of their records, each only when it has nothing left to do.
 *
 * Rejects with the reason of `signal`, and with what `call` rejects with.
 */
export function runScript(run: ScriptRun): Promise<ScriptOutcome> {
  return new ScriptLife(run).outcome
}

class ScriptLife {
  readonly outcome: Promise<ScriptOutcome>
  readonly #run: ScriptRun
  readonly #resolve: (outcome: ScriptOutcome) => void
  readonly #reject: (reason: unknown) => void
  /** Results in the order of their records, earlier executions first. */
  readonly #ends: Recorded[]
  readonly #ended: Set<number>
  /** Calls that were handed on, in any execution of the script. */
  readonly #started = new Set<number>()
  #underWay = 0
  #queue: ScriptCall[] = []
  #open: OpenScript | undefined
  /** Number of results given to the script since it last began. */
  #given = 0
  #asked = new Set<number>()
  #isIdle = false
  #printed = ''
  #end: ScriptEnd | undefined
  #isOver = false

  constructor(run: ScriptRun) {
    const { promise, resolve, reject } = Promise.withResolvers<ScriptOutcome>()
    this.outcome = promise
    this.#run = run
    this.#resolve = resolve
    this.#reject = reject
    this.#ends = run.known.ends.map((answer) => ({ answer, isDurable: true }))
    this.#ended = new Set(run.known.ends.map(({ n }) => n))
    if (run.signal.aborted) this.#abort()
    else {
      run.signal.addEventListener('abort', this.#abort)
      this.#begin()
    }
  }

  /** Begins the script, also again after the engine was lost. Calls under way continue. */
  #begin(): void {
    this.#given = 0
    this.#asked = new Set()
    this.#isIdle = false
    this.#printed = ''
    this.#open = this.#run.engine.open(this.#run.script, {
      ran: (step) => this.#hear(step),
      lost: (error) => {
        if (this.#isOver || this.#end !== undefined) return
        if (error === undefined) this.#begin()
        else this.#finish({ ok: false, error })
      },
    })
  }

  #hear({ calls, printed, end }: ScriptStep): void {
    if (this.#isOver || this.#end !== undefined) return
    this.#printed += printed
    if (printed !== '') this.#run.printed(this.#printed)
    for (const call of calls) {
      const known = this.#run.known.starts.get(call.n)
      if (known !== undefined && (known.name !== call.name || known.print !== this.#run.print(call.json)))
        return this.#finish({ ok: false, error: diverged(call, known.name) })
      this.#asked.add(call.n)
      if (!this.#ended.has(call.n) && !this.#started.has(call.n)) this.#queue.push(call)
    }
    this.#isIdle = true
    if (end !== undefined) this.#finish(end)
    this.#goOn()
  }

  #goOn(): void {
    if (this.#isOver) return
    while (this.#underWay < this.#run.atOnce && this.#queue.length > 0) this.#start(this.#queue.shift()!)
    if (this.#end === undefined) this.#give()
    else if (this.#underWay === 0) this.#settle(this.#end)
  }

  /** Gives the script the next result, if there is one. */
  #give(): void {
    const next = this.#ends[this.#given]
    if (!this.#isIdle) return
    if (next === undefined) {
      if (this.#underWay === 0) this.#finish({ ok: false, error: 'It waits for something that never comes.' })
      else this.#run.idle(this.#queue.length === 0)
      return
    }
    if (!next.isDurable) return
    // A result of a call that it did not make: it does not do what it did.
    if (!this.#asked.has(next.answer.n)) {
      if (this.#underWay === 0) this.#finish({ ok: false, error: diverged({ n: next.answer.n }) })
      return
    }
    this.#given += 1
    this.#isIdle = false
    this.#run.idle(false)
    this.#open!.answer(next.answer)
  }

  #start(call: ScriptCall): void {
    this.#underWay += 1
    this.#started.add(call.n)
    let recorded: Recorded | undefined
    const ended = (answer: ScriptAnswer): void => {
      recorded = { answer, isDurable: false }
      this.#ends.push(recorded)
      this.#ended.add(call.n)
    }
    this.#run.call(call, ended).then(
      () => {
        this.#underWay -= 1
        if (recorded !== undefined) recorded.isDurable = true
        this.#goOn()
      },
      (thrown: unknown) => this.#fail(thrown),
    )
  }

  /** Notes the end of the script. Its calls continue, because their outcome has to be recorded. */
  #finish(end: ScriptEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#open?.stop()
    this.#run.over()
    this.#goOn()
  }

  #settle(end: ScriptEnd): void {
    this.#close()
    this.#resolve({ ...end, printed: this.#printed })
  }

  readonly #abort = (): void => this.#fail(this.#run.signal.reason)

  #fail(reason: unknown): void {
    if (this.#isOver) return
    this.#close()
    this.#reject(reason)
  }

  #close(): void {
    this.#isOver = true
    this.#run.signal.removeEventListener('abort', this.#abort)
    this.#open?.stop()
  }
}

const diverged = ({ n, name }: { readonly n: number; readonly name?: string }, before?: string): string => {
  const was = before === undefined ? '' : ` Call ${n} was one of ${before}, and is another now, of ${name}.`
  return `The script did not repeat itself; start it anew.${was}`
}
