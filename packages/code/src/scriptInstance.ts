import type * as quickJs from 'quickjs-wasi'
import type { JSValueHandle, QuickJS, QuickJSOptions } from 'quickjs-wasi'
import { isLikelyBug } from '../../../src/protocol/callbackBugs.ts'
import { messageOf } from '../../../src/protocol/errors.ts'
import type { Script, ScriptAnswer, ScriptCall, ScriptEnd, ScriptStep } from './engine.ts'
import { prelude } from './prelude.ts'
import * as nodeModule from 'node:module'

type Stripped =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly line?: number; readonly column?: number }

/**
 * Removes the types, and leaves everything else in its place. Returns `undefined` if this Node cannot. Never throws.
 * The first call takes a moment.
 */
function withoutTypes(text: string): Stripped | undefined {
  const { stripTypeScriptTypes } = nodeModule
  if (typeof stripTypeScriptTypes !== 'function') return undefined
  try {
    return { ok: true, text: stripTypeScriptTypes(text) }
  } catch (thrown) {
    return { ok: false, message: wrongWith(messageOf(thrown)), ...placeIn(thrown) }
  }
}

/** Node names what it cannot take away by the mode that it was called in. */
const wrongWith = (message: string): string =>
  message.replace(/ is not supported in strip-only mode\.?$/, ' is not supported: only types can be taken away')

/** Returns the place of an error. Node writes it in front of the stack: `:3`, the line, and a mark below it. */
function placeIn(thrown: unknown): { readonly line?: number; readonly column?: number } {
  const [head = '', ...lines] = (thrown instanceof Error ? (thrown.stack ?? '') : '').split('\n')
  const line = /^:(\d+)$/.exec(head)?.[1]
  if (line === undefined) return {}
  const mark = lines.slice(0, 4).find((one) => /^\s*\^+\s*$/.test(one))
  return { line: Number(line), ...(mark === undefined ? {} : { column: mark.indexOf('^') + 1 }) }
}

type QuickJsModule = Pick<typeof quickJs, 'QuickJS' | 'Intrinsics' | 'MAX_STACK_SIZE'>

/** Parts from which an instance is made. */
export interface InstanceParts {
  readonly module: QuickJsModule
  readonly wasm: QuickJSOptions['wasm']
  /** Called periodically while a script computes. */
  alive(): void
}

/** Milliseconds between two checks of a computing script's time. */
const lookMs = 10
const aliveMs = 250
const fileName = 'script'
/** Number of lines before the script's own. */
const linesBefore = 1

/** One script in a WASM instance of its own. */
export class ScriptInstance {
  readonly #script: Script
  readonly #parts: InstanceParts
  readonly #waiting = new Map<number, JSValueHandle>()
  #vm!: QuickJS
  #promise: JSValueHandle | undefined
  #use!: { readonly written: JSValueHandle; readonly problem: JSValueHandle }
  /** The time of the script; the seed of its random numbers while the instance is made, which looks at the clock for that. */
  #clock: bigint
  #random: bigint
  #n = 0
  #calls: ScriptCall[] = []
  #printed = ''
  #printedChars = 0
  #usedMs = 0
  #from = 0
  #nextLook = 0
  #nextSign = 0
  #broken: 'time' | 'calls' | undefined

  private constructor(script: Script, parts: InstanceParts) {
    this.#script = script
    this.#parts = parts
    this.#random = BigInt(`0x${script.seed.slice(0, 16)}`) | 1n
    this.#clock = this.#random
  }

  static async create(script: Script, parts: InstanceParts): Promise<ScriptInstance> {
    const instance = new ScriptInstance(script, parts)
    await instance.#open()
    return instance
  }

  async #open(): Promise<void> {
    const { QuickJS, Intrinsics, MAX_STACK_SIZE } = this.#parts.module
    this.#vm = await QuickJS.create({
      wasm: this.#parts.wasm,
      memoryLimit: this.#script.limits.bytes,
      maxStackSize: MAX_STACK_SIZE,
      timezoneOffset: 0,
      // What is collected when, and how long something took, is not the same twice.
      intrinsics: (Intrinsics.ALL & ~(Intrinsics.WEAK_REF | Intrinsics.PERFORMANCE)) >>> 0,
      interruptHandler: () => this.#mustStop(),
      wasi: (memory: { readonly buffer: ArrayBuffer }) => ({
        clock_time_get: (_clock: number, _precision: bigint, place: number) => {
          new DataView(memory.buffer).setBigUint64(place, this.#clock, true)
          return 0
        },
        random_get: (place: number, length: number) => {
          new Uint8Array(memory.buffer, place, length).forEach((_, at, bytes) => {
            bytes[at] = this.#randomByte()
          })
          return 0
        },
      }),
    })
    this.#setTime(this.#script.at)
  }

  /** Runs the script until it has nothing left to do. */
  begin(): Promise<ScriptStep> {
    return this.#run(() => {
      const vm = this.#vm
      const { tools, limits, text } = this.#script
      const made = vm.evalCode(prelude, 'prelude')
      const prepared = vm.callFunction(
        made,
        vm.undefined,
        vm.newFunction('call', (name, json, settle) => this.#call(name, json, settle)),
        vm.newFunction('say', (line) => this.#say(line.toString())),
        vm.newString(JSON.stringify(tools)),
        vm.newNumber(limits.valueChars),
      )
      this.#use = {
        written: vm.getProp(prepared, vm.newString('written')),
        problem: vm.getProp(prepared, vm.newString('problem')),
      }
      this.#promise = vm.callFunction(this.#compiled(text), vm.undefined)
    })
  }

  /** Gives the script the result of a call, and continues the script. */
  answer({ n, at, result }: ScriptAnswer): Promise<ScriptStep> {
    return this.#run(() => {
      const settle = this.#waiting.get(n)
      if (settle === undefined) return
      this.#waiting.delete(n)
      this.#setTime(at)
      const vm = this.#vm
      const given = result.ok
        ? [vm.true, vm.newString(result.json)]
        : [vm.false, vm.newString(result.message), result.code === undefined ? vm.undefined : vm.newString(result.code)]
      vm.callFunction(settle, vm.undefined, ...given)
      for (const handle of [settle, ...given]) handle.dispose()
    })
  }

  /** Returns the script as a function. Types are removed only if the text is not JavaScript. */
  #compiled(text: string): JSValueHandle {
    const whole = `(async () => {\n${text}\n})`
    try {
      return this.#vm.evalCode(whole, fileName)
    } catch (thrown) {
      if (!(thrown instanceof Error) || thrown.name !== 'SyntaxError') throw thrown
      this.#parts.alive()
      const stripped = withoutTypes(whole)
      this.#parts.alive()
      if (stripped === undefined) throw thrown
      if (stripped.ok) return this.#vm.evalCode(stripped.text, fileName)
      throw new ScriptSyntaxError(`SyntaxError: ${stripped.message}`, stripped)
    }
  }

  #call(name: JSValueHandle, json: JSValueHandle, settle: JSValueHandle): JSValueHandle {
    this.#n += 1
    if (this.#n > this.#script.limits.calls) {
      this.#broken ??= 'calls'
      return this.#vm.undefined
    }
    this.#waiting.set(this.#n, settle.dup())
    this.#calls.push({ n: this.#n, name: name.toString(), json: json.toString() })
    return this.#vm.undefined
  }

  #say(line: string): JSValueHandle {
    const left = this.#script.limits.printChars - this.#printedChars
    if (left > 0) this.#printed += `${line}\n`.slice(0, left)
    this.#printedChars += line.length + 1
    return this.#vm.undefined
  }

  async #run(work: () => void): Promise<ScriptStep> {
    this.#begins()
    try {
      work()
      this.#vm.executePendingJobs()
      const promise = this.#promise
      if (this.#broken !== undefined) return this.#step(this.#failure(undefined))
      if (promise === undefined || promise.promiseState === 0) return this.#step()
      const settled = await this.#vm.resolvePromise(promise)
      return this.#step('error' in settled ? this.#rejected(settled.error) : this.#returned(settled.value))
    } catch (thrown) {
      return this.#step(this.#failure(thrown))
    } finally {
      this.#usedMs += cpuMs() - this.#from
    }
  }

  #returned(value: JSValueHandle): ScriptEnd {
    const written = this.#vm.callFunction(this.#use.written, this.#vm.undefined, value)
    if (written.isUndefined) return { ok: true }
    const json = written.toString()
    const { valueChars } = this.#script.limits
    if (json.length <= valueChars) return { ok: true, json }
    return {
      ok: false,
      error: `What it returned has ${json.length} characters, more than ${valueChars}: return less.`,
    }
  }

  #rejected(error: JSValueHandle): ScriptEnd {
    const said: Partial<Record<'name' | 'message' | 'code' | 'stack', string>> = JSON.parse(
      this.#vm.callFunction(this.#use.problem, this.#vm.undefined, error).toString(),
    )
    const head = [said.name, said.code].filter(Boolean).join(' ')
    const text = [head, said.message].filter(Boolean).join(': ') || 'It failed.'
    return { ok: false, error: `${text.trimEnd()}${this.#placeIn(said.stack)}` }
  }

  #failure(thrown: unknown): ScriptEnd {
    const { limits } = this.#script
    if (this.#broken === 'calls') return { ok: false, error: `It made more than ${limits.calls} calls.` }
    if (this.#broken === 'time') return { ok: false, error: `It computed for more than ${limits.cpuMs} ms.` }
    if (thrown instanceof ScriptSyntaxError)
      return { ok: false, error: `${thrown.message}${this.#place(thrown.place)}` }
    const message = messageOf(thrown)
    if (message === 'out of memory' || message.includes('malloc failed'))
      return { ok: false, error: `It used more than ${Math.floor(limits.bytes / 2 ** 20)} MiB of memory.` }
    if (thrown instanceof RangeError && !('handle' in thrown))
      return { ok: false, error: 'Its calls are nested too deeply.' }
    const isForeign = thrown instanceof Error && 'handle' in thrown
    if (!isForeign) return { ok: false, error: `The engine failed: ${message}${isLikelyBug(thrown) ? ' (a bug)' : ''}` }
    return { ok: false, error: `${thrown.name}: ${message}${this.#placeIn(thrown.stack)}` }
  }

  #placeIn(stack: string | undefined): string {
    const match = new RegExp(`\\b${fileName}:(\\d+):(\\d+)`).exec(stack ?? '')
    return match === null ? '' : this.#place({ line: Number(match[1]), column: Number(match[2]) })
  }

  /** Returns a place in the line numbers of the script's author. */
  #place({ line, column }: Place): string {
    if (line === undefined) return ''
    const own = line - linesBefore
    if (own > this.#script.text.split('\n').length) return ' (at its end)'
    return ` (line ${own}${column === undefined ? '' : `, column ${column}`})`
  }

  #step(end?: ScriptEnd): ScriptStep {
    const [calls, printed] = [this.#calls, this.#printed]
    this.#calls = []
    this.#printed = ''
    return { calls, printed, ...(end === undefined ? {} : { end }) }
  }

  #begins(): void {
    this.#from = cpuMs()
    const now = performance.now()
    this.#nextLook = now + lookMs
    this.#nextSign = now + aliveMs
  }

  #mustStop(): boolean {
    if (this.#broken !== undefined) return true
    const now = performance.now()
    if (now < this.#nextLook) return false
    this.#nextLook = now + lookMs
    if (now > this.#nextSign) {
      this.#nextSign = now + aliveMs
      this.#parts.alive()
    }
    if (this.#usedMs + cpuMs() - this.#from <= this.#script.limits.cpuMs) return false
    this.#broken = 'time'
    return true
  }

  #setTime(at: number): void {
    this.#clock = BigInt(Math.trunc(at)) * 1_000_000n
  }

  #randomByte(): number {
    for (const [left, by] of [
      [true, 13n],
      [false, 7n],
      [true, 17n],
    ] as const)
      this.#random ^= BigInt.asUintN(64, left ? this.#random << by : this.#random >> by)
    return Number(this.#random & 0xffn)
  }
}

interface Place {
  readonly line?: number
  readonly column?: number
}

class ScriptSyntaxError extends Error {
  readonly place: Place

  constructor(message: string, place: Place) {
    super(message)
    this.place = place
  }
}

/** Returns the CPU time of this thread, or elapsed time where Node cannot tell. */
const cpuMs = (): number => {
  if (typeof process.threadCpuUsage !== 'function') return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
