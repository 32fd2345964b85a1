/** Outcome of a request: its answer if it was refused, else `undefined`. Rejects if the connection broke. */
type Sent = Promise<Response | undefined>

/**
 * The requests of one chat that resume it. One that is not answered before something is decided is not to be: the older state that it
 * brings would take the place of the newer one, with the buttons that were just used.
 */
export class ResumedChat {
  /** Ends each request that is not answered yet. */
  readonly #unanswered = new Set<() => void>()
  /** Decision that was sent while a resuming request had no answer. */
  #sent: Sent | undefined

  /**
   * Asks for what is under way. If something is decided before the answer comes, there is nothing to resume (204) once that has been
   * answered, or what that was refused with.
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

  /** Sends what decides something. */
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

  /** Nothing to resume, once what was sent has been answered; or why it was refused. */
  async #outcome(): Promise<Response> {
    let refusal: Response | undefined
    while (this.#sent !== undefined) refusal = await this.#sent
    return refusal?.clone() ?? new Response(null, { status: 204 })
  }
}

/** An answer whose content has begun to come: until then what is under way may change. */
async function begun(answering: Promise<Response>): Promise<Response> {
  const answer = await answering
  if (answer.body === null) return answer
  const [seen, given] = answer.body.tee()
  const reader = seen.getReader()
  await reader.read()
  void reader.cancel().catch(() => {})
  return new Response(given, answer)
}
