import { hostApp, type AppHost, type AppListening } from '../../src/client/apps/hostApp.ts'
import { appDocument, appPolicy, mcpAppIn, type McpAppData } from '../../src/client/apps/mcpApp.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const app: McpAppData = {
  server: 'charts',
  uri: 'ui://chart/app',
  html: '<p>hi</p>',
  tool: 'chart',
  result: { structuredContent: { points: 5 } },
}

/** An app by hand: what it is sent, and a way to send for it. */
function appIn(host: Partial<AppHost> = {}) {
  const got: {
    readonly id?: unknown
    readonly method?: string
    readonly result?: unknown
    readonly error?: { readonly message: string }
  }[] = []
  const frame = { postMessage: (message: unknown) => void got.push(message as (typeof got)[number]) }
  const listeners = new Set<Parameters<AppListening['addEventListener']>[1]>()
  const heights: number[] = []
  const end = hostApp(
    app,
    frame,
    {
      addEventListener: (_, one) => void listeners.add(one),
      removeEventListener: (_, one) => void listeners.delete(one),
    },
    { input: { of: 'hours' }, resize: (height) => void heights.push(height), ...host },
  )
  const send = (message: object, source: unknown = frame): void => {
    for (const listener of listeners) listener({ data: { jsonrpc: '2.0', ...message }, source })
  }
  const ask = async (method: string, params: object = {}) => {
    const before = got.length
    send({ id: before, method, params })
    for (let turns = 0; got.length === before && turns < 20; turns += 1) await Promise.resolve()
    return got[before]
  }
  return { got, heights, end, send, ask, listeners }
}

describe('the policy of an app', (it) => {
  it('allows nothing of the network but what its server names, and nothing that is no domain', () => {
    assert.match(
      appPolicy(),
      /^default-src 'none'; script-src 'unsafe-inline'; .*connect-src 'none'; frame-src 'none';/,
    )
    const connectDomains = [
      'https://api.example.org',
      'https://x.org; script-src *',
      'https://*.cdn.org:8443',
      '*',
      'data:',
      7,
    ] as string[]
    const policy = appPolicy({ connectDomains, resourceDomains: ['https://static.example.org'] })
    assert.match(policy, /; connect-src https:\/\/api\.example\.org https:\/\/\*\.cdn\.org:8443; /)
    assert.match(policy, /script-src 'unsafe-inline' https:\/\/static\.example\.org; /)
    assert.match(
      appDocument({ html: '<!doctype html><p>' }),
      /^<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"/,
    )
  })

  it('is that of an app, which other data is not', () => {
    assert.is(mcpAppIn({ mcpApp: app }), app)
    assert.equal([undefined, 'x', {}, { mcpApp: { html: 7 } }, { mcpApp: 'x' }].map(mcpAppIn), Array(5).fill(undefined))
  })
})

describe('the host of an app', (it) => {
  it('tells it the call once it is ready, and takes its height', async () => {
    const { ask, send, got, heights } = appIn()
    const begun = await ask('ui/initialize')
    assert.equal((begun!.result as { hostCapabilities: object }).hostCapabilities, { logging: {} })
    send({ method: 'ui/notifications/initialized' })
    assert.equal(
      got.slice(1).map(({ method }) => method),
      ['ui/notifications/tool-input', 'ui/notifications/tool-result'],
    )
    for (const height of [100.2, 9_999, -1, 'tall'])
      send({ method: 'ui/notifications/size-changed', params: { height } })
    assert.equal(heights, [101, 2_000])
  })

  it('hears no other window, and nothing once it has ended', () => {
    const { send, got, end, listeners } = appIn()
    send({ method: 'ui/notifications/initialized' }, {})
    send({ method: 'ui/notifications/initialized', jsonrpc: '1.0' })
    assert.is(got.length, 0)
    end()
    assert.equal([listeners.size, got.map(({ method }) => method)], [0, ['ui/resource-teardown']])
  })

  it('refuses what there is no function for', async () => {
    const { ask } = appIn()
    assert.match(
      (await ask('tools/call', { name: 'pay' }))!.error!.message,
      /^The app may not call "pay": here only the agent/,
    )
    assert.match((await ask('resources/read', {}))!.error!.message, /^This host does nothing for "resources\/read"/)
    assert.equal((await ask('ui/open-link', { url: 'https://example.org' }))!.result, { isError: true })
    assert.equal((await ask('ui/message', { content: [{ type: 'text', text: 'hi' }] }))!.result, { isError: true })
  })

  it('does what there is one for, with sound arguments', async () => {
    const done: unknown[] = []
    const { ask } = appIn({
      openLink: (url) => void done.push(url),
      say: (text) => void done.push(text),
      callTool: async (name, input) => {
        if (name === 'fail') throw new Error('It is closed.')
        done.push([name, input])
        return { content: [] }
      },
    })
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'https://[', 7])
      assert.equal((await ask('ui/open-link', { url }))!.result, { isError: true })
    assert.equal((await ask('ui/open-link', { url: 'https://example.org/a' }))!.result, {})
    await ask('ui/message', { content: [{ type: 'text', text: 'one' }, { type: 'image' }, null] })
    assert.equal((await ask('tools/call', { name: 'look', arguments: { at: 1 } }))!.result, { content: [] })
    assert.is((await ask('tools/call', { name: 'fail' }))!.error!.message, 'It is closed.')
    assert.match((await ask('tools/call', {}))!.error!.message, /needs its name/)
    assert.equal(done, ['https://example.org/a', 'one', ['look', { at: 1 }]])
  })
})
