import { DatabaseSync } from 'node:sqlite'
import { connect } from '../../bridge/src/client/connect.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { findRestate, howToInstall } from '../../cluster/test/restate/installRestate.ts'
import { recordsIn } from '../../cluster/test/restate/recordsIn.ts'
import { checkLog } from '../../../test/support/journeyRules.ts'
import { assert, describe, isCi, type CaseContext } from '../../../test/support/suite.ts'
import { cliCommand, projectFolder, spawnCli, startChild } from './cliChild.ts'
import { untilDead } from '../../../test/support/livingProcess.ts'
import { runCli } from './cliInProcess.ts'

const index = new URL('../../../src/index.ts', import.meta.url).href

/** An agent that takes a while with each of three calls. */
const agents = `import { defineAgent, defineTool, policyModel } from '${index}'
import { z } from '${import.meta.resolve('zod')}'
const wind = defineTool({
  name: 'wind', description: 'Winds.', input: z.object({}), effects: 'idempotent',
  run: () => new Promise((resolve) => setTimeout(() => resolve('wound'), 300)),
})
export const keeper = defineAgent({
  name: 'keeper', tools: [wind],
  model: policyModel(({ messages }) =>
    messages.slice(messages.findLastIndex(({ role }) => role === 'user')).filter(({ role }) => role === 'toolResult').length < 3 ? { toolCalls: [{ name: 'wind', input: {} }] } : 'Wound.'),
})
`

/** Its module prints something, as modules do that read variables from a file. */
const project = (context: CaseContext): string =>
  projectFolder(context, {
    'agents.ts': `console.log('[dotenv] 3 variables')\n${agents}`,
    'package.json': '{ "type": "module" }',
  })

interface Started {
  readonly url: string
  readonly admin: string
  readonly logs: string
}

/** A cluster that is up, and the processes of its workers as they come. */
async function startCluster(context: CaseContext, dir: string, program: string) {
  const child = startChild(context, cliCommand(['cluster', './agents.ts', '--json', '--engine', program]), { cwd: dir })
  await child.until('\n')
  const started = JSON.parse(child.stdout.split('\n')[0]!) as Started
  return { child, started }
}

describe('escapement cluster and its programs', (it) => {
  it('say what is missing', async (context) => {
    const dir = project(context)
    const [cluster, wrong, worker, folder, gateway] = await Promise.all([
      runCli(context, ['cluster', './agents.ts', '--dir', dir], { cwd: dir }),
      runCli(context, ['cluster', './agents.ts', '--workers', '0'], { cwd: dir }),
      runCli(context, ['worker', './agents.ts'], { cwd: dir }),
      runCli(context, ['worker', './agents.ts', '--logs', dir], { cwd: dir }),
      runCli(context, ['gateway', '--logs', 'sqlite:agents.db'], { cwd: dir }),
    ])
    assert.match(cluster.stderr, /npm install --save-dev @restatedev\/restate-server-\w+-\w+.*PACKAGE_MISSING/)
    assert.match(wrong.stderr, /--workers takes a number from 1 to 64, not 0/)
    assert.match(worker.stderr, /needs --logs, or ESCAPEMENT_LOGS/)
    assert.match(folder.stderr, /is a folder, whose agents no other worker can take/)
    assert.match(gateway.stderr, /needs ESCAPEMENT_GATEWAY_SECRET/)
    assert.equal(
      [cluster, wrong, worker, folder, gateway].map(({ code }) => code),
      [1, 2, 2, 2, 2],
    )
  })

  it('a worker that gateways reach must know the engine, and needs both of --register and --url', async (context) => {
    const dir = project(context)
    const env = { ESCAPEMENT_GATEWAY_SECRET: 'a secret of workers and gateways, long enough' }
    const alone = await spawnCli(context, ['worker', './agents.ts', '--logs', 'sqlite:agents.db', '--port', '0'], {
      cwd: dir,
      env,
    })
    assert.match(alone.stderr, /needs --ingress/)
    const half = await runCli(context, ['worker', './agents.ts', '--logs', 'sqlite:agents.db', '--url', 'http://a:1'], {
      cwd: dir,
    })
    assert.match(half.stderr, /--register and --url go together/)
  })

  it(
    'a worker says where it is reached, alone on its standard output, whatever its module prints',
    { timeoutMs: 20_000 },
    async (context) => {
      const places = ['--logs', 'sqlite:agents.db', '--port', '0', '--bridge-port', '0']
      const dir = project(context)
      const child = startChild(context, cliCommand(['worker', './agents.ts', ...places, '--json']), { cwd: dir })
      await child.until('\n')
      const { url, bridge } = JSON.parse(child.stdout) as { url: string; bridge: string }
      assert.ok(url.startsWith('http://') && bridge.startsWith('ws://'))
      child.signal('SIGINT')
      await child.ended
    },
  )

  const found = findRestate()
  const missing = `there is no Restate server; ${howToInstall}`
  const withEngine = (title: string, body: (context: CaseContext, program: string) => Promise<void>): void => {
    if (found !== undefined) it(title, { timeoutMs: 60_000 }, (context) => body(context, found))
    else if (isCi()) it(title, () => assert.unreachable(missing))
    else it.skip(`${title} (skipped: ${missing})`)
  }

  withEngine(
    'a cluster answers every prompt though a worker is killed, and ends with all that it began',
    async (context, program) => {
      const dir = project(context)
      const { child, started } = await startCluster(context, dir, program)
      const client = connect(started.url)
      context.cleanup(() => client.close())
      const spawned = await Promise.all(['c1', 'c2', 'c3', 'c4'].map((id) => client.spawn('keeper', { id })))
      const runs = spawned.map((agent) => agent.prompt('Wind it.'))
      for await (const { type } of runs[0]!) if (type === 'tool.start') break
      const store = sqliteStore(started.logs.replace('sqlite:', ''))
      context.cleanup(() => store.close())
      const { words } = (await store.holder!('c1'))!
      const pid = Number(/\d+/.exec(words)![0])
      process.kill(pid, 'SIGKILL')
      for (const { result } of runs) assert.is((await result).text, 'Wound.')
      for (const { id } of spawned) assert.equal(checkLog(await recordsIn(store, id), { isWhole: true }), [])
      client.close()
      child.signal('SIGINT')
      const { code } = await child.ended
      assert.is(code, 0)
      await assert.rejects(() => fetch(`${started.admin}/health`))
    },
  )

  withEngine(
    'a cluster ends at once, at rest and in the middle of runs, and its workers let go of all that they have',
    async (context, program) => {
      const dir = project(context)
      for (const isBusy of [false, true]) {
        const { child, started } = await startCluster(context, dir, program)
        const client = connect(started.url)
        context.cleanup(() => client.close())
        const ids = ['e1', 'e2', 'e3', 'e4'].map((id) => `${id}-${isBusy}`)
        const spawned = await Promise.all(ids.map((id) => client.spawn('keeper', { id })))
        // Long enough for connections to have been looked at.
        for (const agent of spawned) await agent.prompt('Wind it.').result
        const runs = isBusy ? spawned.map((agent) => agent.prompt('Wind it again.')) : []
        for (const run of runs) for await (const { type } of run) if (type === 'tool.start') break
        child.signal('SIGINT')
        const { code, stderr } = await child.ended
        assert.is(code, 0)
        for (const type of ['worker.killed', 'worker.gone']) assert.not.match(stderr, type)
        assert.is(stderr.split('The worker has ended.').length - 1, 2)
        const database = new DatabaseSync(started.logs.replace('sqlite:', ''), { readOnly: true })
        assert.equal(database.prepare('SELECT * FROM writers').all(), [], 'no writer is left')
        assert.equal(database.prepare('SELECT id FROM agents WHERE writer IS NOT NULL').all(), [], 'no log is held')
        database.close()
      }
    },
  )

  withEngine('a cluster that is killed leaves no process behind', async (context, program) => {
    const { child, started } = await startCluster(context, project(context), program)
    const store = sqliteStore(started.logs.replace('sqlite:', ''))
    context.cleanup(() => store.close())
    const workers = (await store.workers!()).map(({ words }) => Number(/\d+/.exec(words)![0]))
    assert.is(workers.length, 2)
    child.signal('SIGKILL')
    await child.ended
    for (const worker of workers) await untilDead(worker, context.signal)
    for (;;) {
      const isUp = await fetch(`${started.admin}/health`).then(
        () => true,
        () => false,
      )
      if (!isUp) return
    }
  })
})
