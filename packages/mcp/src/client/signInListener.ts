import { createServer } from 'node:http'

/** Path to which a person's browser is redirected. */
export const callbackPath = '/callback'

const nowhere = { pathname: '', searchParams: new URLSearchParams() }

const page = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>escapement</title><p style="font:16px system-ui;margin:3em">${text}</p>`

/** Local port that waits for the browser of a person who signs in. */
export interface SignInListener {
  /** Resolves with the browser's parameters. Stays pending once the listener was stopped. */
  readonly came: Promise<URLSearchParams>
  stop(): void
}

/**
 * Listens until a browser comes back, or the listener is stopped. Refuses requests without `state`, so that no other page can put in a code of
 * its own. Does not keep the process alive. Rejects if the port is taken.
 */
export async function listenForSignIn(port: number, state: string): Promise<SignInListener> {
  const { promise: came, resolve } = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    // Any page may ask for anything here, also for what is no address.
    const { pathname, searchParams } = URL.parse(request.url ?? '', 'http://localhost') ?? nowhere
    const answer = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(page(text))
    }
    if (request.method !== 'GET' || pathname !== callbackPath) return answer(404, 'There is nothing here.')
    if (searchParams.get('state') !== state) return answer(400, 'This is not the sign-in that was asked for.')
    answer(200, 'You can close this window.')
    server.close()
    resolve(searchParams)
  })
  await new Promise<void>((listening, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', listening).unref()
  })
  const stop = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { came, stop }
}
