import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentsOf } from '../src/config/configAgents.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { loadConfig } from '../src/config/loadConfig.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { configFolder, configText, index } from './configFolder.ts'
import { endedCli } from './cliInProcess.ts'
import { faultyProjects } from './cliProjects.ts'
import { recordsIn } from './cliSessions.ts'

const greeter = `const greeter = defineAgent({ name: 'greeter', model: policyModel(() => 'hello from the greeter') })`
const both = configText(`${greeter}
const asker = ({ model }) => defineAgent({ name: 'asker', model })
export default defineConfig({ agents: [greeter, asker], store: 'sessions' })`)

const run = (context: CaseContext, cwd: string, ...args: readonly string[]) =>
  endedCli(context, args, { cwd, env: { ESCAPEMENT_MODEL: 'embedded' } })

const idIn = (dir: string): string =>
  readdirSync(dir)
    .find((name) => name.endsWith('.jsonl'))!
    .replace('.jsonl', '')

describe('commands in a folder with a configuration', (it) => {
  it('run its first agent, record where it says, and find that again', { timeoutMs: 10_000 }, async (context) => {
    const dir = configFolder(context, { 'escapement.config.ts': both })
    const { code, stdout, stderr } = await run(context, dir, 'run', 'hi', '--dir', dir)
    assert.is(code, 0, stderr)
    assert.match(stdout, /hello from the greeter/)
    const id = idIn(join(dir, 'sessions'))
    assert.match(id, /^greeter-/)
    assert.is(existsSync(join(dir, '.escapement')), false)
    const listed = await run(context, dir, 'sessions', '--dir', dir)
    assert.match(listed.stdout, new RegExp(`"id":"${id}"`))
    const resumed = await run(context, dir, 'resume', id, '--dir', dir)
    assert.match(resumed.stdout, /nothing left to do/)
    const alone = await run(context, dir, 'resume', id, '--dir', dir, '--no-config')
    assert.is(alone.code, 1)
  })

  it('go on with a run that failed, where it failed', { timeoutMs: 10_000 }, async (context) => {
    const moody = configText(`import { existsSync } from 'node:fs'
const isWell = () => existsSync(new URL('./well.txt', import.meta.url))
const model = policyModel(({ messages }) => {
  if (!isWell()) throw new Error('not well')
  return 'asked by ' + messages.length
})
export default defineConfig({ agents: [defineAgent({ name: 'moody', retry: { attempts: 1 }, model })], store: 'sessions' })`)
    const dir = configFolder(context, { 'escapement.config.ts': moody })
    const failed = await run(context, dir, 'run', 'hi', '--dir', dir)
    assert.is(failed.code, 1)
    const id = idIn(join(dir, 'sessions'))
    const again = await run(context, dir, 'resume', id, '--dir', dir)
    assert.is(again.code, 1)
    writeFileSync(join(dir, 'well.txt'), '')
    const resumed = await run(context, dir, 'resume', id, '--dir', dir)
    assert.is(resumed.code, 0, resumed.stderr)
    assert.match(resumed.stdout, /^Continuing a failed run\.\n[^]*asked by 1/)
    const over = await run(context, dir, 'resume', id, '--dir', dir)
    assert.match(over.stdout, /nothing left to do/)
  })

  it(
    'continue a session with the model that the agent or the configuration has',
    { timeoutMs: 20_000 },
    async (context) => {
      // Named like one of a provider, for which there is no key.
      const dir = configFolder(context, {
        'escapement.config.ts': configText(`const model = policyModel(() => 'here', { id: 'anthropic:claude-x' })
const other = policyModel(() => 'there', { id: 'openai:gpt-x' })
export default defineConfig({
  agents: [
    defineAgent({ name: 'whole', model }),
    () => defineAgent({ name: 'maker', model: other }),
    ({ model }) => defineAgent({ name: 'taker', model }),
  ],
  model,
  store: 'sessions',
})`),
      })
      for (const agent of ['whole', 'maker', 'taker', 'escapement-coder']) {
        const say = (...args: readonly string[]) =>
          endedCli(context, ['chat', ...args, '--dir', dir], { cwd: dir, input: 'hi\n' })
        const first = await say('--agent', agent)
        assert.is(first.code, 0, first.stderr)
        const again = await say('--agent', agent, '--continue')
        assert.equal([again.code, again.stderr], [0, ''], agent)
        assert.match(again.stdout, agent === 'maker' ? 'there' : 'here')
      }
    },
  )

  it('name the model of a session that cannot be made any more, and blame no option', async (context) => {
    const text = (model: string) =>
      configText(
        `export default defineConfig({ agents: [({ model }) => defineAgent({ name: 'taker', model })], ${model} store: 'sessions' })`,
      )
    const dir = configFolder(context, {
      'escapement.config.ts': text("model: policyModel(() => 'here', { id: 'anthropic:claude-x' }),"),
    })
    const say = (...args: readonly string[]) =>
      endedCli(context, ['chat', ...args, '--dir', dir], { cwd: dir, input: 'hi\n' })
    assert.is((await say()).code, 0)
    writeFileSync(join(dir, 'later.config.ts'), text(''))
    const { code, stderr } = await say('--continue', '--config', join(dir, 'later.config.ts'))
    assert.is(code, 1)
    assert.match(stderr, "The session's model anthropic:claude-x needs")
    assert.not.match(stderr, '--model')
  })

  it(
    'take the agent that is named, made with the chosen model, or the own one',
    { timeoutMs: 10_000 },
    async (context) => {
      const dir = configFolder(context, { 'escapement.config.ts': both })
      await run(context, dir, 'run', 'hi', '--dir', dir, '--agent', 'asker')
      const [created] = recordsIn(join(dir, 'sessions', `${idIn(join(dir, 'sessions'))}.jsonl`))
      assert.is(created?.type === 'agent.created' && created.definition, 'asker')
      const wrong = await run(context, dir, 'run', 'hi', '--dir', dir, '--agent', 'greter')
      assert.is(wrong.code, 2)
      assert.match(wrong.stderr, /--agent "greter" is not in the configuration\. Did you mean "greeter"\?/)
      const own = await run(context, dir, 'run', 'hi', '--dir', dir, '--agent', 'escapement-coder', '--json')
      assert.match(own.stdout, /"definition":"escapement-coder"|escapement/)
    },
  )

  it(
    'answer a chat over a pipe, and say yes to what the agent asks only when told',
    { timeoutMs: 10_000 },
    async (context) => {
      const dir = configFolder(context, {
        'escapement.config.ts': configText(`const writer = defineAgent({
  name: 'writer',
  model: policyModel(({ messages }) => messages.at(-1).role === 'toolResult' ? 'done: ' + messages.at(-1).content[0].text : { toolCalls: [{ name: 'write_file', input: { path: 'x.txt', content: 'x' } }] }),
  tools: workspaceTools(import.meta.dirname, { needsApproval: { write_file: true } }),
})
export default { agents: [writer] }`),
      })
      const chat = (...args: readonly string[]) =>
        endedCli(context, ['chat', '--dir', dir, ...args], { cwd: dir, input: 'write\n' })
      assert.match((await chat()).stdout, /denied/i)
      assert.is(existsSync(join(dir, 'x.txt')), false)
      await chat('--yes')
      assert.is(readFileSync(join(dir, 'x.txt'), 'utf8'), 'x')
    },
  )

  it('name models by their names there, and say which there are', { timeoutMs: 10_000 }, async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`export default defineConfig({
  agents: [({ model }) => defineAgent({ name: 'a', model })],
  model: 'quick',
  models: { quick: policyModel(() => 'quick here'), slow: policyModel(() => 'slow here') },
})`),
    })
    const said = async (...args: readonly string[]): Promise<string> =>
      (await endedCli(context, ['run', 'hi', '--dir', dir, ...args], { cwd: dir })).stdout
    assert.match(await said(), /quick here/)
    assert.match(await said('--model', 'slow'), /slow here/)
    const wrong = await endedCli(context, ['run', 'hi', '--dir', dir, '--model', 'slwo'], { cwd: dir })
    assert.match(wrong.stderr, /The configuration has: quick, slow\./)
  })

  it('say where a model stands that there is not', { timeoutMs: 20_000 }, async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`export default defineConfig({
  model: 'antropic:claude',
  models: { quick: 'gogle:x' },
})`),
    })
    const said = async (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> =>
      (await endedCli(context, ['run', 'hi', '--dir', dir, ...args], { cwd: dir, env })).stderr
    assert.match(
      await said({}),
      /escapement\.config\.ts:3: model "antropic:claude" names an unknown provider "antropic"\. Did you mean "anthropic"\?/,
    )
    assert.match(await said({}, '--model', 'quick'), /config\.ts:4: models\.quick "gogle:x" names an unknown provider/)
    assert.match(await said({}, '--model', 'gogle:x'), /^escapement: --model "gogle:x" names an unknown provider/m)
    assert.match(await said({ ESCAPEMENT_MODEL: 'gogle:x' }), /ESCAPEMENT_MODEL "gogle:x" names an unknown provider/)
  })

  it('say where an agent is wrong that is made by a function, and what may be meant', async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`export default defineConfig({
  agents: [
    ({ model }) =>
      defineAgent({ name: 'a', model, instrutions: 'x' } as never),
  ],
})`),
    })
    const { stderr } = await endedCli(context, ['run', 'hi', '--dir', dir], { cwd: dir })
    assert.ok(
      stderr.includes(
        'escapement.config.ts:5: agents.0 threw: Agent "a": "instrutions" is not known; did you mean "instructions"?',
      ),
      stderr,
    )
  })

  it('need a module or agents of the configuration to serve', async (context) => {
    const dir = configFolder(context)
    const { code, stderr } = await run(context, dir, 'serve', '--dir', dir)
    assert.is(code, 2)
    assert.match(
      stderr,
      /"serve" needs a module, like: escapement serve \.\/agents\.ts; there is no escapement\.config\.ts here/,
    )
    const chart = configFolder(context, { 'escapement.config.ts': both })
    assert.match((await run(context, chart, 'chart', '--id', 'asker')).stdout, /stateDiagram/)
  })

  it('report what an agent of the configuration does wrong, with its place', async (context) => {
    const dir = configFolder(context, { 'escapement.config.ts': configText('export default { agents: [() => 5] }') })
    assert.match(
      (await run(context, dir, 'run', 'x', '--dir', dir)).stderr,
      /agents\.0 does not return what defineAgent/,
    )
    const two = configFolder(context, {
      'escapement.config.ts': configText(`${greeter}\nexport default { agents: [greeter, () => greeter] }`),
    })
    assert.match((await run(context, two, 'run', 'x', '--dir', two)).stderr, /has two agents named "greeter"/)
  })

  it('keep the secrets of the configuration out of the log', { timeoutMs: 10_000 }, async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(
        `${greeter}\nexport default { agents: [greeter], redact: { secrets: { KEY: 'abracadabra' } } }`,
      ),
    })
    await run(context, dir, 'run', 'the key is abracadabra', '--dir', dir)
    const log = readFileSync(join(dir, '.escapement', `${idIn(join(dir, '.escapement'))}.jsonl`), 'utf8')
    assert.is(log.includes('abracadabra'), false)
    assert.match(log, /\[redacted:KEY\]/)
  })
})

describe('an SQLite file of logs', (it) => {
  it('is recorded in, and found again', { timeoutMs: 10_000 }, async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`${greeter}\nexport default { agents: [greeter], store: 'sqlite:kept.db' }`),
    })
    const { code, stdout, stderr } = await run(context, dir, 'run', 'hi', '--dir', dir)
    assert.is(code, 0, stderr)
    assert.ok(`${stdout}${stderr}`.includes(join(dir, 'kept.db')))
    const listed = await run(context, dir, 'sessions', '--dir', dir)
    assert.match(listed.stdout, /"definition":"greeter"/)
  })
})

describe('the folder of the logs', (it) => {
  it('keeps a .gitignore that was there', { timeoutMs: 10_000 }, async (context) => {
    const dir = configFolder(context, {
      '.gitignore': 'dist\n',
      'escapement.config.ts': configText(`${greeter}\nexport default { agents: [greeter], store: '.' }`),
    })
    const { code, stderr } = await run(context, dir, 'run', 'hi', '--dir', dir)
    assert.is(code, 0, stderr)
    assert.is(readFileSync(join(dir, '.gitignore'), 'utf8'), 'dist\n')
  })
})

describe('escapement init', (it) => {
  /** Where `escapement` is installed: it stands for the sources. */
  function installed(dir: string): void {
    const folder = join(dir, 'node_modules', 'escapement')
    mkdirSync(folder, { recursive: true })
    const manifest = {
      name: 'escapement',
      type: 'module',
      exports: { '.': './index.js', './package.json': './package.json' },
    }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'index.js'), `export * from '${index}'\n`)
  }

  it('writes files that run as they are, in an empty folder', { timeoutMs: 20_000 }, async (context) => {
    const base = configFolder(context)
    const dir = join(base, 'new')
    const { code, stdout } = await endedCli(context, ['init', '--dir', dir], { cwd: base, isTerminal: true })
    assert.is(code, 0)
    assert.equal(readdirSync(dir).toSorted(), ['agents.ts', 'escapement.config.ts'])
    assert.match(stdout, /^ {2}npm install escapement {2,}the files import it$/m)
    assert.match(stdout, /^ {2}npx escapement run "fix the failing test" {2,}give it one task$/m)
    installed(dir)
    const { files, path, repaired } = faultyProjects['a wrong text']!
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
    const answer = await run(context, dir, 'run', 'fix the failing test', '--yes', '--dir', dir)
    assert.is(answer.code, 0, answer.stderr + answer.stdout)
    assert.match(readFileSync(join(dir, path), 'utf8'), repaired)
    const [created] = recordsIn(join(dir, '.escapement', `${idIn(join(dir, '.escapement'))}.jsonl`))
    assert.is(created?.type === 'agent.created' && created.definition, 'helper')
  })

  it('writes an agent with brakes, which keeps what files were before', async (context) => {
    const dir = configFolder(context)
    await endedCli(context, ['init', '--dir', dir], { cwd: dir })
    installed(dir)
    const config = await loadConfig(
      { dir, config: undefined, noConfig: false },
      { cwd: () => dir, stderr: process.stderr },
    )
    const [helper] = agentsOf(
      config!,
      policyModel(() => 'Yes.'),
    )
    const { braking, tools } = helper!
    assert.equal([braking?.fold != null, braking?.stall != null], [true, true])
    assert.equal([braking?.revert?.undo, tools.has('delete_file')], [true, true])
  })

  it('shows how a key is kept out of logs, which without the key keeps out nothing', async (context) => {
    for (const name of ['PATH', 'A_VARIABLE_THAT_IS_NOT_SET']) {
      const dir = configFolder(context)
      await endedCli(context, ['init', '--dir', dir], { cwd: dir })
      installed(dir)
      const file = join(dir, 'escapement.config.ts')
      const text = readFileSync(file, 'utf8')
      writeFileSync(file, text.replace('// redact:', 'redact:').replaceAll('API_KEY', name))
      const wish = { dir, config: undefined, noConfig: false }
      const config = await loadConfig(wish, { cwd: () => dir, stderr: process.stderr })
      const value = process.env[name]
      assert.equal(config?.redact, { secrets: value === undefined ? {} : { [name]: value } })
    }
  })

  it('overwrites nothing, and says what to do next', async (context) => {
    const dir = configFolder(context, { 'agents.ts': '// mine\n' })
    const { stdout } = await endedCli(context, ['init', '--dir', dir], { cwd: dir })
    assert.equal((JSON.parse(stdout) as { written: string[] }).written, ['escapement.config.ts'])
    assert.is(readFileSync(join(dir, 'agents.ts'), 'utf8'), '// mine\n')
    installed(dir)
    assert.is((await run(context, dir, 'sessions', '--dir', dir)).code, 0)
    const again = await endedCli(context, ['init', '--dir', dir], { cwd: dir })
    assert.is(again.code, 1)
    assert.match(again.stderr, /escapement\.config\.ts is there already\. Nothing was written\./)
  })

  it('writes .mts where a plain .ts would not be a module', async (context) => {
    const dir = configFolder(context, { 'package.json': '{}' })
    const { stdout } = await endedCli(context, ['init', '--dir', dir], { cwd: dir })
    assert.equal((JSON.parse(stdout) as { written: string[] }).written, ['escapement.config.mts', 'agents.mts'])
    installed(dir)
    assert.match((await run(context, dir, 'run', 'hello', '--dir', dir)).stdout, /I am the embedded model/)
  })

  it('says why nothing could be written', async (context) => {
    const dir = configFolder(context, { file: '' })
    const { code, stderr } = await endedCli(context, ['init', '--dir', join(dir, 'file')], { cwd: dir })
    assert.is(code, 2)
    assert.match(stderr, /The files could not be written/)
    symlinkSync(join(dir, 'elsewhere.ts'), join(dir, 'agents.ts'))
    const linked = await endedCli(context, ['init', '--dir', dir], { cwd: dir })
    assert.is(linked.code, 2)
    assert.is(existsSync(join(dir, 'elsewhere.ts')), false)
    assert.is(existsSync(join(dir, 'escapement.config.ts')), false)
  })
})
