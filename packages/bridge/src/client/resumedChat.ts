/** Outcome of a request: the answer if it was refused, else `undefined`. Rejects if the connection broke. */
type Sent = Promise<Response | undefined>

/**
 * The requests that resume one chat. An unanswered resuming request is dropped once a decision is sent: the
 * older state in its answer would replace the newer one, and show the buttons that were just used.
 */
export class ResumedChat {
  /** Functions that end the requests that are not answered yet. */
  readonly #unanswered = new Set<() => void>()
  /** Decision that was sent while a resuming request had no answer. */
  #sent: Sent | undefined

  /**
   * Requests the stream of the current run. If a decision is sent before the answer comes, there is nothing to
   * resume (204) once the decision has been answered. If the decision is refused, the refusal is the answer.
   */
  resume(send: (signal: AbortSignal) => Promise<Response>, signal: AbortSignal | null): Promise<Response> {
    const ends = new AbortController()
    return new Promise((resolve, reject) => {
      const overtake = (): void => {
        this.#unanswered.delete(overtake)
        ends.abort()
        this.#outcome().then(resolve, reject)
      }
      const leave = (): void => {
        this.#unanswered.delete(overtake)
        ends.abort(signal?.reason)
        reject(signal?.reason as Error)
      }
      this.#unanswered.add(overtake)
      if (signal?.aborted === true) leave()
      else signal?.addEventListener('abort', leave, { once: true })
      const answering = begun(send(ends.signal))
      const settle = (): void => {
        if (this.#unanswered.delete(overtake)) resolve(answering)
        else void answering.then((late) => late.body?.cancel()).catch(() => {})
      }
      answering.then(settle, settle)
    })
  }

  /** Sends a decision. */
  async decide(send: () => Promise<Response>): Promise<Response> {
    if (this.#unanswered.size === 0 && this.#sent === undefined) return await send()
    const { promise: sent, resolve, reject } = Promise.withResolvers<Response | undefined>()
    const end = (): void => {
      if (this.#sent === sent) this.#sent = undefined
    }
    this.#sent = sent
    sent.then(end, end)
    for (const overtake of this.#unanswered) overtake()
    try {
      const answer = await send()
      if (!answer.ok || answer.body === null) {
        resolve(answer.ok ? undefined : answer.clone())
        return answer
      }
      const { readable, writable } = new TransformStream<Uint8Array>()
      answer.body.pipeTo(writable).then(
        () => resolve(undefined),
        (thrown: unknown) => reject(thrown ?? new DOMException('The answer was not read to its end.', 'AbortError')),
      )
      return new Response(readable, answer)
    } catch (thrown) {
      reject(thrown)
      throw thrown
    }
  }

  /** Returns the answer to a resuming request once decisions have been answered: nothing to resume, or the refusal. */
  async #outcome(): Promise<Response> {
    let refusal: Response | undefined
    while (this.#sent !== undefined) refusal = await this.#sent
    return refusal?.clone() ?? new Response(null, { status: 204 })
  }
}

/** Resolves with an answer once its content begins to arrive. Until then the run's state may change. */
async function begun(answering: Promise<Response>): Promise<Response> {
  const answer = await answering
  if (answer.body === null) return answer
  const [seen, given] = answer.body.tee()
  const reader = seen.getReader()
  await reader.read()
  void reader.cancel().catch(() => {})
  return new Response(given, answer)
}
