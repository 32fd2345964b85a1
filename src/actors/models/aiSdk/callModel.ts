import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ModelPart } from '../../../protocol/model.ts'
import { readError } from './readError.ts'
import type { ReplyReader } from './readStream.ts'

type PartStream = ReadableStream<LanguageModelV4StreamPart>

/**
 * Calls a language model once. Contract: the call is made by the first `next()`; `warnings` come first, deltas as they arrive,
 * then one terminal part; failures are parts, nothing is thrown. An abort, or `return()` at any time, closes the connection and
 * ends the iteration at once, without a terminal part, even when the provider's package ignores the signal.
 */
export function callModel(
  model: LanguageModelV4,
  toOptions: () => LanguageModelV4CallOptions,
  signal: AbortSignal,
  reply: ReplyReader,
  warnings: readonly string[],
): AsyncIterableIterator<ModelPart> {
  const connection = new AbortController()
  const parts = run(model, toOptions, signal, connection, reply, warnings)
  return {
    next: () => parts.next(),
    // A generator's own return() would wait for a pending read that may never settle, so close the stream first.
    return() {
      connection.abort(new Error('the reply is no longer read'))
      return parts.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* run(
  model: LanguageModelV4,
  toOptions: () => LanguageModelV4CallOptions,
  signal: AbortSignal,
  connection: AbortController,
  reply: ReplyReader,
  warnings: readonly string[],
): AsyncGenerator<ModelPart, undefined> {
  const follow = () => connection.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  if (signal.aborted) follow()
  const { signal: closed } = connection
  let ended = false
  try {
    const stream = closed.aborted ? undefined : await open(model, toOptions, closed)
    if (stream === undefined) return
    const reader = stream.getReader()
    for (const message of warnings) yield { type: 'warning', message }
    // Cancelling settles a pending read at once.
    closed.addEventListener('abort', () => void reader.cancel(closed.reason).catch(() => {}), { once: true })
    while (true) {
      const { done, value } = await reader.read()
      if (closed.aborted) return
      if (done) break
      for (const part of reply.read(value)) {
        yield part
        if (part.type === 'error') return
      }
    }
    ended = true
    yield reply.end()
  } catch (thrown) {
    if (closed.aborted) return
    // A failure after the provider has finished does not affect the reply.
    yield reply.isFinished ? reply.end() : { type: 'error', error: readError(thrown) }
  } finally {
    signal.removeEventListener('abort', follow)
    if (!ended) connection.abort(new Error('the reply has ended'))
  }
  return
}

/** Opens the stream; returns `undefined` as soon as `closed` aborts, and cancels a stream that opens later. */
function open(
  model: LanguageModelV4,
  toOptions: () => LanguageModelV4CallOptions,
  closed: AbortSignal,
): Promise<PartStream | undefined> {
  return new Promise((resolve, reject) => {
    closed.addEventListener('abort', () => resolve(undefined), { once: true })
    const call = async () => model.doStream({ ...toOptions(), abortSignal: closed })
    call().then(({ stream }) => {
      if (closed.aborted) stream.cancel(closed.reason).catch(() => {})
      else resolve(stream)
    }, reject)
  })
}
