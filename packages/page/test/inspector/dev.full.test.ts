import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect } from '../../../../src/client.ts'
import { projectFolder, startChild, type CliChild } from '../../../cli/test/cliChild.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')
const app = join(root, 'packages', 'page', 'src', 'inspector', 'app.tsx')
const timeoutMs = 30_000

/** Its temporary files are in `dir`. */
function startDev(context: CaseContext, dir: string, port: number): CliChild {
  return startChild(context, [process.execPath, join(root, 'scripts', 'dev.ts'), '--port', String(port)], { cwd: dir })
}

describe('npm run dev', (it) => {
  it(
    'serves the sources of the page before agents, says where, replaces what changes, and ends at Ctrl-C',
    { timeoutMs },
    async (context) => {
      const dir = projectFolder(context)
      const dev = startDev(context, dir, 0)
      await dev.until('(Ctrl-C ends)')
      const [, host] = /http:\/\/([\d.:]+)\/#agent=sorter /.exec(dev.stdout)!
      const read = async (path: string): Promise<string> => {
        const response = await fetch(`http://${host}${path}`)
        assert.is(response.status, 200, path)
        return response.text()
      }
      assert.match(await read('/'), '/main.tsx')
      assert.match(await read('/main.tsx'), 'accept("/app.tsx"')
      assert.match(await read('/app.tsx'), '(PageHeader,')
      assert.is((JSON.parse(await read('/agents/sorter/chart.json')) as { title: string }).title, 'sorter')

      const client = connect(`ws://${host}/bridge`)
      context.cleanup(() => client.close())
      const { agents } = await client.agents()
      assert.equal(
        agents.map(({ agentId }) => agentId),
        ['sorter'],
      )

      const [, token] = /wsToken = "([^"]+)"/.exec(await read('/@vite/client'))!
      const changes = new WebSocket(`ws://${host}/?token=${token}`, 'vite-hmr')
      const messages: string[] = []
      changes.addEventListener('message', ({ data }) => messages.push(String(data)))
      while (!messages.some((text) => text.includes('"connected"'))) await once(changes, 'message')
      const now = new Date()
      await utimes(app, now, now)
      while (!messages.some((text) => text.includes('"update"'))) await once(changes, 'message')
      const update = messages.find((text) => text.includes('"update"'))!
      assert.match(update, '"path":"/main.tsx"')
      assert.match(update, '"acceptedPath":"/app.tsx"')

      dev.signal('SIGINT')
      const { code, stderr } = await dev.ended
      assert.is(stderr, '')
      assert.is(code, 0)
      assert.equal(
        readdirSync(dir).filter((name) => name.startsWith('escapement')),
        [],
      )
    },
  )

  it('says that its port is taken, and how to have another', { timeoutMs }, async (context) => {
    const other = createServer()
    context.cleanup(() => other.close())
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const dir = projectFolder(context)
    const { code, stdout, stderr } = await startDev(context, dir, port).ended
    assert.is(
      stderr,
      `Port ${port} is taken, perhaps by another "npm run dev". For a free one: npm run dev -- --port 0\n`,
    )
    assert.is(stdout, '')
    assert.is(code, 1)
    assert.equal(
      readdirSync(dir).filter((name) => name.startsWith('escapement')),
      [],
    )
  })
})
