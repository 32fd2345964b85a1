import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { cloneJson } from '../../../../src/protocol/checks/cloneJson.ts'
import { type ErrorCode, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Model, ModelPart, ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { Redactor, type RedactOptions } from '../../../redaction/src/redactor.ts'
import { blankText } from '../../../../src/log/redaction/blankSecrets.ts'
import { blankPart, blankRequest } from './blankRecording.ts'
import { type Exchange, type ExchangeEnd, exchangeLine, headerLine } from './recording.ts'

export interface RecordingModel extends Model {
  /**
   * Resolves when every ended exchange is in the file; creates the file if there was no request.
   *
   * @throws RuntimeError `STORE_OPEN_FAILED` or `STORE_APPEND_FAILED` when a write failed, `INVALID_OPTION` for what is not JSON.
   */
  flush(): Promise<void>
}

/**
 * Passes everything through to `model`, deltas as they arrive, and writes each exchange to `file` when its reply has ended: before the
 * terminal part is passed on, or at the abort. Several may run at once. Earlier contents of `file` are overwritten at the first write.
 * Only the id of the model, the requests and the parts are written, without keys and headers of `settings.providerOptions`, and
 * without the secrets of `redact`: as one could be cut between two deltas, these are left out then, and a reply stands in its last
 * part alone. A write that fails turns that reply, and each later one, into a `badRequest` error.
 */
export function recordModel(
  model: Model,
  file: string,
  { redact }: { readonly redact?: RedactOptions } = {},
): RecordingModel {
  const redactor = redact && new Redactor(redact)
  const lines = new LineWriter(file, headerLine(model.id))
  let asked = 0
  return {
    id: model.id,
    flush: () => lines.flush(),
    async *stream(request, options) {
      const exchange = new OpenExchange({ lines, redactor }, ++asked, request)
      if (lines.failure !== undefined) {
        yield badRequest(lines.failure)
        return
      }
      const { signal } = options
      const onAbort = (): void => void exchange.end({ type: 'aborted' })
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
      try {
        for await (const part of model.stream(request, options)) {
          exchange.add(part)
          if (isTerminal(part)) await exchange.end({ type: 'complete' })
          yield isTerminal(part) && lines.failure !== undefined ? badRequest(lines.failure) : part
        }
        await exchange.end({ type: 'complete' })
      } catch (thrown) {
        await exchange.end({ type: 'thrown', message: blankText(messageOf(thrown)) })
        throw thrown
      } finally {
        signal.removeEventListener('abort', onAbort)
        await exchange.end({ type: 'left' })
      }
    },
  }
}

const isTerminal = (part: ModelPart): boolean => part?.type === 'done' || part?.type === 'error'

const badRequest = ({ message }: RuntimeError): ModelPart => ({ type: 'error', error: { kind: 'badRequest', message } })

/** Parts that a request has brought so far. The first `end` writes them; later ones wait for that write. */
class OpenExchange {
  readonly #lines: LineWriter
  readonly #redactor: Redactor | undefined
  readonly #number: number
  readonly #request: ModelRequest | undefined
  readonly #parts: ModelPart[] = []
  #ended: Promise<void> | undefined

  constructor(
    { lines, redactor }: { readonly lines: LineWriter; readonly redactor: Redactor | undefined },
    number: number,
    request: ModelRequest,
  ) {
    this.#lines = lines
    this.#redactor = redactor
    this.#number = number
    try {
      this.#request = blankRequest(cloneJson(request) as ModelRequest)
    } catch (thrown) {
      lines.fail('INVALID_OPTION', `Request ${number} cannot be recorded: ${messageOf(thrown)}.`)
    }
  }

  /** Adds a part; parts after the end are not written. */
  add(part: ModelPart): void {
    this.#parts.push(part)
  }

  /** Writes the exchange. Never rejects: a failure stays with the writer. */
  end(end: ExchangeEnd): Promise<void> {
    this.#ended ??= this.#write(end)
    return this.#ended
  }

  #write(end: ExchangeEnd): Promise<void> {
    if (this.#request === undefined) return Promise.resolve()
    const number = this.#number
    try {
      const exchange = { number, request: this.#request, parts: this.#parts.map(blankPart), end }
      return this.#lines.write(exchangeLine(withoutSecrets(exchange, this.#redactor)))
    } catch (thrown) {
      this.#lines.fail('INVALID_OPTION', `The reply to request ${number} cannot be recorded: ${messageOf(thrown)}.`)
      return Promise.resolve()
    }
  }
}

function withoutSecrets(exchange: Exchange, redactor: Redactor | undefined): Exchange {
  if (redactor === undefined) return exchange
  const parts = exchange.parts.filter((part) => !part?.type?.endsWith('.delta'))
  return redactor.value({ ...exchange, parts })
}

/** Appends whole lines to a file, one after another. After a failure it writes no more. */
class LineWriter {
  readonly #file: string
  readonly #header: string
  #tail: Promise<void> | undefined
  #failure: RuntimeError | undefined

  constructor(file: string, header: string) {
    this.#file = file
    this.#header = header
  }

  get failure(): RuntimeError | undefined {
    return this.#failure
  }

  /** Stores the first failure. */
  fail(code: ErrorCode, what: string): void {
    this.#failure ??= new RuntimeError(code, what)
  }

  /** Writes a line. Never rejects. */
  write(line: string): Promise<void> {
    const opened = this.#tail ?? this.#attempt('STORE_OPEN_FAILED', () => this.#open())
    this.#tail = opened.then(() => this.#attempt('STORE_APPEND_FAILED', () => appendFile(this.#file, line)))
    return this.#tail
  }

  async flush(): Promise<void> {
    await (this.#tail ??= this.#attempt('STORE_OPEN_FAILED', () => this.#open()))
    if (this.#failure !== undefined) throw this.#failure
  }

  async #open(): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true })
    await writeFile(this.#file, this.#header)
  }

  async #attempt(code: ErrorCode, work: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) return
    try {
      await work()
    } catch (thrown) {
      this.fail(code, `The recording ${this.#file} cannot be written: ${messageOf(thrown)}.`)
    }
  }
}
