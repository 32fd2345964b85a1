import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ModelPart } from '../../../../src/protocol/ports/model.ts'
import type { ReplyReader } from './readStream.ts'

type PartStream = ReadableStream<LanguageModelV4StreamPart>

/** A call of a model. */
export interface Call {
  /** `takes` returns true for types of files that may be sent unchanged. */
  toOptions(takes: (mimeType: string) => boolean): LanguageModelV4CallOptions
  /** The types of the files in the request. */
  readonly fileTypes: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Calls a language model once. Contract: the call is made by the first `next()`; `warnings` come first, deltas as they arrive,
 * then one terminal part; failures are parts, nothing is thrown. Files of a type that the provider's package does not know are sent as
 * text, with a warning. An abort, or `return()` at any time, closes the connection and
 * ends the iteration at once, without a terminal part, even when the provider's package ignores the signal.
 */
export function callModel(
  model: LanguageModelV4,
  call: Call,
  signal: AbortSignal,
  reply: ReplyReader,
): AsyncIterableIterator<ModelPart> {
  const connection = new AbortController()
  const parts = run(model, call, signal, connection, reply)
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
  call: Call,
  signal: AbortSignal,
  connection: AbortController,
  reply: ReplyReader,
): AsyncGenerator<ModelPart, undefined> {
  const follow = () => connection.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  if (signal.aborted) follow()
  const { signal: closed } = connection
  let ended = false
  try {
    const opened = closed.aborted ? undefined : await openWithout([], model, call, closed)
    if (opened?.stream === undefined) return
    const reader = opened.stream.getReader()
    const refused = opened.leftOut.map(
      (type) =>
        `Files of type ${type} are not taken by the provider: the model is sent their text, or is told their names.`,
    )
    for (const message of [...call.warnings, ...refused]) yield { type: 'warning', message }
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
    yield reply.isFinished ? reply.end() : reply.fail(thrown)
  } finally {
    signal.removeEventListener('abort', follow)
    if (!ended) connection.abort(new Error('the reply has ended'))
  }
  return
}

/** Opens the stream. If the provider's package refuses a type of file, it is opened without such files. */
async function openWithout(
  leftOut: readonly string[],
  model: LanguageModelV4,
  call: Call,
  closed: AbortSignal,
): Promise<{ readonly stream: PartStream | undefined; readonly leftOut: readonly string[] }> {
  try {
    const takes = (mimeType: string) => !leftOut.includes(mimeType)
    return { stream: await open(model, () => call.toOptions(takes), closed), leftOut }
  } catch (thrown) {
    const sent = call.fileTypes.filter((type) => !leftOut.includes(type))
    const { name, message } = (thrown ?? {}) as { readonly name?: unknown; readonly message?: unknown }
    if (sent.length === 0 || !/UnsupportedFunctionality/.test(String(name))) throw thrown
    const named = sent.filter((type) => String(message).includes(type))
    return openWithout([...leftOut, ...(named.length > 0 ? named : sent)], model, call, closed)
  }
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
