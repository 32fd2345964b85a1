import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CaseContext } from '../support/suite.ts'

/** Serves an empty page that runs one module; gives its origin. It is closed after the case. */
export async function servePage({ cleanup }: Pick<CaseContext, 'cleanup'>, code: string): Promise<string> {
  const html =
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="/page.js">'
  const server = createServer(({ url }, response) => {
    const isModule = url === '/page.js'
    response
      .setHeader('content-type', isModule ? 'text/javascript' : 'text/html')
      .end(isModule ? code : `${html}</script>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
