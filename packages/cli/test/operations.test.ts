import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../bridge/src/client/connect.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { cliCommand, projectFolder, startChild } from './cliChild.ts'
import { runCli } from './cliInProcess.ts'

const env = { ESCAPEMENT_GATEWAY_SECRET: 'a secret of workers and gateways, long enough' }
const tokens = {
  'a token of the operator': 'admin',
  'a token of one tenant': { role: 'talk', metadata: { tenant: 'acme' }, owner: 'acme' },
}

async function gateway(context: CaseContext, more: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const dir = projectFolder(context, {
    'package.json': '{ "type": "module" }',
    'tokens.json': JSON.stringify(tokens),
    ...files,
  })
  const args = ['gateway', '--logs', 'sqlite:agents.db', '--json', '--port', '0', ...more]
  const child = startChild(context, cliCommand(args), { cwd: dir, env })
  await child.until('\n')
  return { child, url: (JSON.parse(child.stdout) as { url: string }).url }
}

describe('escapement gateway', (it) => {
  it(
    'lets clients in by a file of tokens, each with its rights, and counts whom it refuses',
    { timeoutMs: 20_000 },
    async (context) => {
      const { child, url } = await gateway(context, ['--tokens', 'tokens.json', '--operations-port', '0'])
      const line = child.stderr.split('\n').find((one) => one.includes('Metrics and readiness'))!
      const operations = (JSON.parse(line) as { url: string }).url
      const asking = async (token: string): Promise<unknown> => {
        const client = connect(url, { token })
        context.cleanup(() => client.close())
        return client.workers().catch((thrown: unknown) => (thrown as { readonly code?: string }).code)
      }
      assert.equal(await asking('a token of the operator'), [])
      assert.is(await asking('a token of one tenant'), 'BRIDGE_FORBIDDEN')
      assert.is(await asking('a token of nobody at all'), 'BRIDGE_UNAUTHORISED')
      const text = await (await fetch(`${operations}/metrics`)).text()
      assert.match(text, /^escapement_gateway_refusals_total\{escapement_refusal_kind="token"\} 1$/m)
      assert.match(text, /^escapement_gateway_clients 2$/m)
      assert.is((await fetch(`${operations}/readyz`)).status, 200)
      child.signal('SIGTERM')
      assert.is((await child.ended).code, 0)
    },
  )

  it('takes settings from a configuration that is named, and from no other', { timeoutMs: 20_000 }, async (context) => {
    const config = `export default { gateway: { tokens: { 'a token of the file': 'admin' }, limits: { connections: 1 } } }\n`
    const { url } = await gateway(context, ['--config', 'own.config.mjs'], {
      'own.config.mjs': config,
      'escapement.config.mjs': 'throw new Error("not to be run")\n',
    })
    const client = connect(url, { token: 'a token of the file' })
    context.cleanup(() => client.close())
    assert.equal(await client.workers(), [])
  })

  it('says what is wrong with a file of tokens, without a token', async (context) => {
    const dir = projectFolder(context, {
      'text.json': 'no JSON',
      'list.json': '["a token of the operator"]',
      'short.json': '{ "short secret": "admin" }',
      'role.json': '{ "a token of the operator": "emperor" }',
    })
    const run = async (file: string): Promise<string> => {
      const { code, stderr } = await runCli(context, ['gateway', '--logs', 'sqlite:a.db', '--tokens', file], {
        cwd: dir,
        env,
      })
      assert.is(code, 2, stderr)
      return stderr
    }
    assert.match(await run('none.json'), /--tokens none\.json: .*ENOENT/)
    assert.match(await run('text.json'), /it is not JSON/)
    assert.match(await run('list.json'), /give an object of tokens/)
    assert.match(await run('short.json'), /a token needs at least 16 characters/)
    const wrong = await run('role.json')
    assert.match(wrong, /a token is given a role/)
    assert.not.match(wrong, /operator/)
    writeFileSync(join(dir, 'fine.json'), JSON.stringify(tokens))
    const port = ['gateway', '--logs', 'sqlite:a.db', '--tokens', 'fine.json', '--operations-port', 'x']
    assert.match(
      (await runCli(context, port, { cwd: dir, env })).stderr,
      /--operations-port takes a number up to 65535/,
    )
  })

  it('stands beside workers, which say what of their settings is wrong', async (context) => {
    const dir = projectFolder(context, {
      'escapement.config.mjs': `export default { agents: [], worker: { warm: -1, drian: 5 } }\n`,
      'package.json': '{ "type": "module" }',
    })
    const { code, stderr } = await runCli(context, ['worker', '--logs', 'sqlite:a.db'], { cwd: dir, env })
    assert.is(code, 2)
    assert.match(stderr, /"drian" is not known/)
    const drain = ['worker', '--logs', 'sqlite:a.db', '--drain', 'soon', '--no-config', './agents.mjs']
    assert.match(
      (await runCli(context, drain, { cwd: dir, env })).stderr,
      /--drain must be a whole number from 0 on; it is "soon"/,
    )
  })
})
