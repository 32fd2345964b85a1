import { createServer, request as askFor } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { endTogether } from '../../../../../test/support/endTogether.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { serveInspector } from '../inspectorHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'I was asked.') })

/** An origin of another server, closed after the case. */
async function listen({ cleanup }: PageContext, http: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

/** A proxy at `/tools/agents/`, which the server behind it is told or not. */
function proxy(port: number, isStripped: boolean): ReturnType<typeof createServer> {
  const pathOf = (url: string): string => (isStripped ? url.replace('/tools/agents', '') : url)
  const http = createServer((asked, response) => {
    if (!asked.url!.startsWith('/tools/agents/')) return void response.writeHead(404).end()
    const { method, headers } = asked
    const forwarded = askFor({ port, host: '127.0.0.1', path: pathOf(asked.url!), method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    // A page that leaves while a part of it loads would keep the rest of the answer waiting for ever.
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    asked.pipe(forwarded)
  })
  http.on('upgrade', ({ url = '', method, rawHeaders }, socket, head) => {
    if (!url.startsWith('/tools/agents/')) return void socket.destroy()
    const upstream = connect(port, '127.0.0.1', () => {
      const headers = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
      upstream.write(`${method} ${pathOf(url)} HTTP/1.1\r\n${headers}\r\n`)
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    endTogether(socket, upstream)
  })
  return http
}

describeInChromium('the place of the inspector page', (it) => {
  for (const isStripped of [true, false])
    it(
      `is below a path of a proxy that ${isStripped ? 'strips' : 'keeps'} it`,
      { timeoutMs: 60_000 },
      async (context) => {
        const { server, runtime } = await serveInspector(context, [echo], isStripped ? {} : { base: '/tools/agents/' })
        const agent = await runtime.spawn(echo, { id: 'a1' })
        await agent.prompt('Say it.').result
        const origin = await listen(context, proxy(server.port, isStripped))
        const { page } = context
        await page.goto(`${origin}/tools/agents/#agent=a1`)
        await page.getByText('I was asked.').first().waitFor()
        await page.getByRole('tab', { name: 'Chart' }).click()
        await page.locator('.chart').waitFor()
        assert.match(page.url(), /\/tools\/agents\/#.*agent=a1/)
        checkProblems(context)
      },
    )

  it('is a frame in a page of an origin that is named, and in no other', { timeoutMs: 60_000 }, async (context) => {
    const hosts = createServer(({ url }, response) => {
      response
        .setHeader('content-type', 'text/html')
        .end(
          `<!doctype html><link rel="icon" href="data:,"><iframe width="900" height="700" src="${decodeURIComponent(url!.slice(2))}"></iframe>`,
        )
    })
    const host = await listen(context, hosts)
    const { server, runtime } = await serveInspector(context, [echo], { inspector: { frameAncestors: [host] } })
    const agent = await runtime.spawn(echo, { id: 'a1' })
    await agent.prompt('Say it.').result
    const shown = (port: number): string => `${host}/?${encodeURIComponent(`http://127.0.0.1:${port}/#agent=a1`)}`
    const { page } = context
    await page.goto(shown(server.port))
    await page.frameLocator('iframe').getByText('I was asked.').first().waitFor()
    checkProblems(context)

    const closed = await serveInspector(context, [echo])
    const other = await context.open()
    const refused = other.page.waitForEvent('console', {
      predicate: (message) => /frame-ancestors/.test(message.text()),
    })
    await other.page.goto(shown(closed.server.port))
    await refused
    assert.is(await other.page.frameLocator('iframe').locator('#page').count(), 0)
  })
})
