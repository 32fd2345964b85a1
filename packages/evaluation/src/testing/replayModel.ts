import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import { cloneJson } from '../../../../src/protocol/checks/cloneJson.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Model, ModelPart, ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import { blankRequest } from './blankRecording.ts'
import { type Exchange, readRecording } from './recording.ts'
import { requestDifference } from './requestDifference.ts'

export interface ReplayModelOptions {
  /**
   * `strict`: the nth request must be the nth recorded. `anyOrder`: a request is answered by the first equal one not yet
   * used, for agents that run side by side. `inOrder`: requests need not be as recorded: each is answered by an equal one not yet used, else by
   * the next, and `differences` counts those that were not equal. Default `strict`.
   */
  readonly mode?: 'strict' | 'anyOrder' | 'inOrder'
  /** Milliseconds for which a reply that was aborted when it was recorded waits for the abort, before it fails. Default 1,000. */
  readonly abortWithinMs?: number
  readonly clock?: Clock
}

export interface ReplayModel extends Model {
  /** Every request seen, in order. */
  readonly requests: readonly ModelRequest[]
  /** Number of requests that differed from the recorded ones. */
  readonly differences: number
  /** @throws RuntimeError `INVALID_OPTION` if recorded requests were never made, or one differed from its recording. */
  assertComplete(): void
}

/**
 * Creates a model that replays a file of `recordModel`, in the recorded pieces and under the recorded id, without a network. A
 * request that differs from the recorded one fails with a `badRequest` error that names its number and the difference.
 *
 * @throws RuntimeError `STORE_READ_FAILED`, `LOG_CORRUPT` (names the line) or `LOG_VERSION`; `INVALID_OPTION` for another mode.
 */
export async function replayModel(file: string, options: ReplayModelOptions = {}): Promise<ReplayModel> {
  const { mode = 'strict', abortWithinMs = 1_000, clock = systemClock } = options
  if (!Object.hasOwn(pickers, mode)) throw new RuntimeError('INVALID_OPTION', `There is no mode ${mode}.`)
  const take = pickers[mode]
  const { model, exchanges } = await readRecording(file)
  const unused = new Map([...exchanges].toSorted(([a], [b]) => a - b))
  const total = Math.max(0, ...unused.keys())
  const requests: ModelRequest[] = []
  let drift: string | undefined
  let differences = 0
  return {
    id: model,
    requests,
    get differences() {
      return differences
    },
    assertComplete() {
      if (drift !== undefined) throw new RuntimeError('INVALID_OPTION', `${drift}.`)
      if (unused.size === 0) return
      const what = `The recording ${file} holds ${exchanges.size} requests, but ${unused.size} were not made`
      throw new RuntimeError('INVALID_OPTION', `${what}: ${[...unused.keys()].slice(0, 10).join(', ')}.`)
    },
    async *stream(request, { signal }) {
      const number = requests.push(request)
      const taken = take(unused, number, total, request)
      if (typeof taken === 'string') {
        drift ??= taken
        differences += 1
        yield badRequest(taken)
        return
      }
      // Only this mode takes one that is not equal.
      if (mode === 'inOrder' && differenceOf(taken, request) !== undefined) differences += 1
      unused.delete(taken.number)
      for (const part of taken.parts) {
        if (signal.aborted) return
        yield part
      }
      if (taken.end.type === 'thrown') throw new Error(taken.end.message)
      if (taken.end.type === 'aborted') await pause(abortWithinMs, clock, signal)
      if (signal.aborted || taken.end.type === 'complete') return
      yield badRequest(`request ${number} was ${taken.end.type} here when it was recorded, and now is not`)
    },
  }
}

/** Returns the exchange that answers a request, or the reason why there is none. */
type Picker = (unused: Map<number, Exchange>, number: number, total: number, request: ModelRequest) => Exchange | string

const pickers: { readonly [mode in NonNullable<ReplayModelOptions['mode']>]: Picker } = {
  strict(unused, number, total, request) {
    const exchange = unused.get(number)
    if (exchange !== undefined) {
      // A request that differs still uses its exchange: the next one is compared with the next.
      unused.delete(number)
      const difference = differenceOf(exchange, request)
      return difference === undefined
        ? exchange
        : `${opening(number, 'differs from the recorded one')}: ${difference.text}`
    }
    return number <= total
      ? opening(number, 'has no recorded reply: it was still open when the recording stopped')
      : opening(number, `is not in the recording, which holds ${total}`)
  },
  anyOrder(unused, number, total, request) {
    let nearest: { exchange: Exchange; text: string; count: number } | undefined
    for (const exchange of unused.values()) {
      const difference = differenceOf(exchange, request)
      if (difference === undefined) return exchange
      if (nearest === undefined || difference.count < nearest.count) nearest = { exchange, ...difference }
    }
    if (nearest === undefined) return opening(number, `is not in the recording, which holds ${total}`)
    const what = opening(number, `is none of the ${unused.size} recorded ones that are left`)
    return `${what}; the nearest is ${nearest.exchange.number}: ${nearest.text}`
  },
  inOrder(unused, number, total, request) {
    const left = [...unused.values()]
    const equal = left.find((exchange) => differenceOf(exchange, request) === undefined)
    return equal ?? left[0] ?? opening(number, `is not in the recording, which holds ${total}`)
  },
}

const opening = (number: number, what: string): string => `request ${number} ${what}`

function differenceOf(
  { request: expected }: Exchange,
  seen: ModelRequest,
): { text: string; count: number } | undefined {
  try {
    return requestDifference(expected, blankRequest(cloneJson(seen) as ModelRequest))
  } catch (thrown) {
    return { text: `it cannot be compared: ${messageOf(thrown)}`, count: Infinity }
  }
}

const badRequest = (message: string): ModelPart => ({ type: 'error', error: { kind: 'badRequest', message } })
