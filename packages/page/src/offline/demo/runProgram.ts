import type { Clock } from '../../../../../src/protocol/ports/clock.ts'

/** Files by their names, in one folder. */
export type Files = ReadonlyMap<string, string>

export interface ProgramEnd {
  /** Output of the program, and the reason if it failed. */
  readonly text: string
  readonly how: 'done' | 'failed' | 'timedOut'
}

interface ProgramOptions {
  /** Arguments of the program: `process.argv` after its name. */
  readonly args: readonly string[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly clock: Clock
  onText(text: string): void
}

type Message = { readonly type: 'text' | 'failed'; readonly text: string } | { readonly type: 'done' }

/** Code that the worker runs: the parts of Node that programs here use, and then the program. */
const begin = (program: string, argv: readonly string[]): string => `
globalThis.process = { argv: ${JSON.stringify(argv)} }
console.log = console.error = (...words) => postMessage({ type: 'text', text: words.join(' ') + '\\n' })
try {
  await import(${JSON.stringify(program)})
  postMessage({ type: 'done' })
} catch (error) {
  postMessage({ type: 'failed', text: String(error) + '\\n' })
}`

const ownImport = /(from\s*|import\s*)(['"])\.\/([\w.-]+)\2/g

/** URLs of modules, each made after those that it imports. */
class Addresses {
  readonly #files: Files
  readonly #made = new Map<string, string>()

  constructor(files: Files) {
    this.#files = files
  }

  /** Returns the URL of a module. @throws Error: there is no such file, or files import each other */
  of(name: string, importers: readonly string[] = []): string {
    const known = this.#made.get(name)
    if (known !== undefined) return known
    const text = this.#files.get(name)
    if (text === undefined) throw new Error(`Cannot find module './${name}'`)
    if (importers.includes(name)) throw new Error([...importers, name].join(' imports '))
    const code = text.replace(
      ownImport,
      (_, before: string, quote: string, imported: string) =>
        `${before}${quote}${this.of(imported, [...importers, name])}${quote}`,
    )
    return this.add(code, name)
  }

  add(code: string, name: string): string {
    const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
    this.#made.set(name, address)
    return address
  }

  forget(): void {
    for (const address of this.#made.values()) URL.revokeObjectURL(address)
  }
}

/** Runs a JavaScript module of a folder in a worker, and ends it when its time is over. Rejects with the reason of `signal`. */
export async function runProgram(files: Files, program: string, options: ProgramOptions): Promise<ProgramEnd> {
  const { args, timeoutMs, signal, clock, onText } = options
  signal.throwIfAborted()
  const addresses = new Addresses(files)
  let worker: Worker | undefined
  let cancel = (): void => {}
  let text = ''
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd['how']>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  const write = (more: string): void => {
    text += more
    onText(more)
  }
  try {
    const main = addresses.add(begin(addresses.of(program), ['node', program, ...args]), ' main')
    worker = new Worker(main, { type: 'module' })
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (data.type === 'done') return resolve('done')
      write(data.text)
      if (data.type === 'failed') resolve('failed')
    })
    worker.addEventListener('error', ({ message }) => {
      write(`${message}\n`)
      resolve('failed')
    })
    cancel = clock.after(timeoutMs, () => resolve('timedOut'))
    return { how: await promise, text }
  } catch (thrown) {
    if (signal.aborted) throw thrown
    return { how: 'failed', text: `${text}${String(thrown)}\n` }
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
    worker?.terminate()
    addresses.forget()
  }
}
