/** Headers of each request, or a function that returns them, such as one that renews a token. */
export type A2aAuth =
  | { readonly [header: string]: string }
  | (() => { readonly [header: string]: string } | Promise<{ readonly [header: string]: string }>)

/** Maximum size of an answer or a stream in bytes. */
const mostBytes = 64 * 1024 * 1024

/** Returns a `fetch` for one origin: it sends the headers only there, follows no redirects, and limits the size of answers. */
export const boundedFetch =
  (origin: string, auth: A2aAuth): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, { ...init, redirect: 'error' })
    const url = new URL(request.url)
    if (url.origin !== origin)
      throw new TypeError(`its card names another server, ${url.origin}, which is asked nothing: only ${origin} is`)
    const given = typeof auth === 'function' ? await auth() : auth
    for (const [name, value] of Object.entries(given)) request.headers.set(name, value)
    const response = await fetch(request)
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(limited()), { status, statusText, headers })
  }

function limited(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > mostBytes) controller.error(new Error(`its answer is longer than ${mostBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
