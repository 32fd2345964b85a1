import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { describeIssues, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ModelPart, ModelRequest } from '../../../../src/protocol/ports/model.ts'

const recordingVersion = 1

/** Schema of the first line of a recording. */
const headerSchema = z.object({ type: z.literal('recording'), version: z.int().min(1), model: z.string().min(1) })

/** End of an exchange. `aborted`: the signal came first. `left`: the reader stopped before the last part. `thrown`: the model threw. */
const endSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['complete', 'aborted', 'left']) }),
  z.object({ type: z.literal('thrown'), message: z.string() }),
])

/** Loose schema: the parts of a model are replayed unchanged, even if they break the contract of the port. */
const exchangeSchema = z.object({
  type: z.literal('exchange'),
  number: z.int().min(1),
  request: z.looseObject({
    system: z.string(),
    messages: z.array(z.unknown()),
    tools: z.array(z.unknown()),
    settings: z.looseObject({}),
  }),
  parts: z.array(z.looseObject({ type: z.string() })),
  end: endSchema,
})

export type ExchangeEnd = z.infer<typeof endSchema>

/** A request and its outcome. `number` counts requests from 1 in the order they began; lines are in the order they ended. */
export interface Exchange {
  readonly number: number
  readonly request: ModelRequest
  readonly parts: readonly ModelPart[]
  readonly end: ExchangeEnd
}

export interface Recording {
  readonly model: string
  /** Exchanges by number. An exchange still open when the recording stopped is missing. */
  readonly exchanges: ReadonlyMap<number, Exchange>
}

/** Returns the first line of a recording of the model with this id. */
export const headerLine = (model: string): string =>
  `${JSON.stringify({ type: 'recording', version: recordingVersion, model })}\n`

/** Returns one line of a recording. @throws TypeError for a value that JSON cannot hold. */
export const exchangeLine = (exchange: Exchange): string => `${JSON.stringify({ type: 'exchange', ...exchange })}\n`

/**
 * Reads a whole recording.
 *
 * @throws RuntimeError `STORE_READ_FAILED` (no such file, not readable), `LOG_CORRUPT` (names the line), `LOG_VERSION`.
 */
export async function readRecording(file: string): Promise<Recording> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw new RuntimeError('STORE_READ_FAILED', `The recording ${file} cannot be read: ${messageOf(thrown)}.`)
  })
  const [first = '', ...rest] = text.split('\n')
  const last = rest.pop()
  const header = parseLine(file, 1, first, headerSchema)
  if (header.version > recordingVersion) {
    const what = `The recording ${file} has version ${header.version}, and ${recordingVersion} is the newest known here.`
    throw new RuntimeError('LOG_VERSION', what)
  }
  const exchanges = new Map<number, Exchange>()
  for (const [index, line] of rest.entries()) {
    const exchange = parseLine(file, index + 2, line, exchangeSchema) as unknown as Exchange
    if (exchanges.has(exchange.number)) throw corrupt(file, index + 2, `request ${exchange.number} is there twice`)
    exchanges.set(exchange.number, exchange)
  }
  if (last !== '') throw corrupt(file, rest.length + (last === undefined ? 1 : 2), 'the line is cut off')
  return { model: header.model, exchanges }
}

function parseLine<T>(file: string, number: number, line: string, schema: z.ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw corrupt(file, number, line === '' ? 'the line is empty' : 'the line is not JSON')
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw corrupt(file, number, describeIssues(parsed.error))
  return parsed.data
}

const corrupt = (file: string, line: number, problem: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Line ${line} of the recording ${file} is wrong: ${problem}.`)
