import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import type { McpAppData } from '../../../bridge/src/client/apps/mcpApp.ts'
import { serveApp } from '../appServer.ts'
import { appOf, isForApps } from '../../src/client/apps.ts'
import type { ListedTool } from '../../src/client/listTools.ts'
import { opened } from './opened.ts'

const listed = (meta: object): ListedTool => ({
  name: 'look',
  inputSchema: {},
  _meta: meta as NonNullable<ListedTool['_meta']>,
})

describe('the app of a tool', (it) => {
  it('is named by the tool, as now or as before, and is one of its server', () => {
    const uri = 'ui://look/app'
    assert.equal(
      [
        { ui: { resourceUri: uri } },
        { 'ui/resourceUri': uri },
        { ui: { resourceUri: 'https://example.org/app' } },
        { ui: 'no' },
        {},
      ].map((meta) => appOf(listed(meta))),
      [uri, uri, undefined, undefined, undefined],
    )
    const seen = (visibility: unknown): boolean => isForApps(listed({ ui: { visibility } }))
    assert.equal([['app'], ['model', 'app'], undefined, 'app'].map(seen), [true, false, false, false])
  })

  it('is in the data of each call where that is wanted', async (context) => {
    const url = `http://127.0.0.1:${await serveApp(context, '<p>chart</p>')}/mcp`
    const open = await opened(context, { name: 'charts', url, apps: true })
    assert.equal(open.names(), ['chart'])
    const recorded = toolContext()
    assert.is(await open.text('chart', { of: 'hours' }, recorded), 'A chart of hours.')
    const { result, ...app } = recorded.given.get('mcpApp') as McpAppData
    assert.equal(app, { server: 'charts', uri: 'ui://chart/app.html', tool: 'chart', html: '<p>chart</p>' })
    assert.equal(result['content'], [{ type: 'text', text: 'A chart of hours.' }])
    assert.equal(result['structuredContent'], { points: 5 })
    const plain = toolContext()
    const other = await opened(context, { name: 'charts', url })
    await other.text('chart', { of: 'hours' }, plain)
    assert.equal([other.names(), plain.given.size], [['chart'], 0])
  })

  it('is missed where it cannot be read, and the call is not', async (context) => {
    const url = `http://127.0.0.1:${await serveApp(context, 'x'.repeat(4_000_001))}/mcp`
    const open = await opened(context, { name: 'charts', url, apps: true })
    const recorded = toolContext()
    assert.is(await open.text('chart', { of: 'hours' }, recorded), 'A chart of hours.')
    assert.is(recorded.given.size, 0)
    assert.match(open.log.join('\n'), /its app "ui:\/\/chart\/app\.html" cannot be shown: it has 4000001 characters/)
  })
})
