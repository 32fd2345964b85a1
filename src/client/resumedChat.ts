/** What became of something said: its answer if that is a refusal. Rejects if it broke off. */
type Said = Promise<Response | undefined>

/** The requests of one chat, of which one to resume it may be overtaken by one that says something. */
export class ResumedChat {
  /** Ends the requests to resume that are not answered yet. */
  readonly #unanswered = new Set<AbortController>()
  /** What was said while a request to resume was not answered. */
  #said: Said | undefined

  /**
   * Asks for what is under way. If something is said before it is answered, it is asked for again once that has been: the answer to the
   * older question would take the place of the newer one, with the buttons that were just used. If what is said fails, so does this.
   */
  async resume(send: (signal: AbortSignal) => Promise<Response>, signal: AbortSignal | null): Promise<Response> {
    for (;;) {
      const overtaken = new AbortController()
      this.#unanswered.add(overtaken)
      const signals = [overtaken.signal, ...(signal === null ? [] : [signal])]
      try {
        return await begun(await send(AbortSignal.any(signals)))
      } catch (thrown) {
        if (!overtaken.signal.aborted) throw thrown
      } finally {
        this.#unanswered.delete(overtaken)
      }
      while (this.#said !== undefined) {
        const refusal = await this.#said
        if (refusal !== undefined) return refusal.clone()
      }
    }
  }

  /** Says something. */
  async say(send: () => Promise<Response>): Promise<Response> {
    if (this.#unanswered.size === 0 && this.#said === undefined) return await send()
    const { promise: said, resolve, reject } = Promise.withResolvers<Response | undefined>()
    this.#said = said
    const end = (): void => {
      if (this.#said === said) this.#said = undefined
    }
    said.then(end, end)
    for (const overtaken of this.#unanswered) overtaken.abort()
    try {
      const answer = await send()
      if (!answer.ok || answer.body === null) {
        resolve(answer.ok ? undefined : answer.clone())
        return answer
      }
      const { readable, writable } = new TransformStream<Uint8Array>()
      resolve(answer.body.pipeTo(writable).then(() => undefined))
      return new Response(readable, answer)
    } catch (thrown) {
      reject(thrown)
      throw thrown
    }
  }
}

/** An answer whose content has begun to come: until then what is under way may change. */
async function begun(answer: Response): Promise<Response> {
  if (answer.body === null) return answer
  const [seen, given] = answer.body.tee()
  const reader = seen.getReader()
  await reader.read()
  void reader.cancel().catch(() => {})
  return new Response(given, answer)
}
