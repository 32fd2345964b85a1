import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentEvent } from '../../../src/index.ts'
import { commands } from '../src/commandList.ts'
import { commandHelp, helpText } from '../src/helpText.ts'
import { anthropicWire } from '../../../test/support/wireServer/anthropicWire.ts'
import { whole } from '../../../test/support/wireServer/useWire.ts'
import { startWireServer } from '../../../test/support/wireServer/wireServer.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { cliCommand, hasText, projectFolder, spawnCli, startChild, waitFor } from './cliChild.ts'
import { isAlive, untilDead } from '../../../test/support/livingProcess.ts'
import { endlessProject, soundProject } from './cliProjects.ts'

const timeoutMs = 30_000
// oxlint-disable-next-line no-control-regex -- the test looks for escape sequences
const escape = /\u001B/

const mistakes: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['an unknown command', ['rnu', 'x'], /no command "rnu"\. Did you mean run\?\nSee: escapement --help\n$/],
  ['an unknown option', ['run', 'x', '--jsn'], /no option --jsn\. Did you mean --json\?/],
  ['an unknown short option', ['run', 'x', '-q'], /no option -q/],
  ['an option like none, with each named once', ['--bogus'], /There are: (?:(?!--help).)*--help, --version\.$/m],
  ['an option of another command', ['demo', '--dir', 'x'], /"demo" takes no option --dir/],
  ['an option without its value', ['run', 'x', '--dir', '--json'], /--dir needs a value/],
  ['a value for an option that has none', ['run', 'x', '--json=1'], /--json takes no value/],
  ['a missing task', ['run'], /needs a task.*\nSee: escapement help run\n$/],
  ['an empty task', ['run', '  '], /task is empty/],
  ['a task for a chat', ['chat', 'hello'], /takes no task/],
  [
    'an unknown provider',
    ['run', 'x', '--model', 'anthropc:x'],
    /unknown provider "anthropc"\. Did you mean "anthropic"\?/,
  ],
  ['a model without a provider', ['run', 'x', '--model', 'gpt'], /provider:model/],
  ['a folder that is not there', ['run', 'x', '--dir', 'nowhere'], /nowhere" is not an existing folder/],
]

describe('the command line', (it) => {
  it('prints help and version', { timeoutMs }, async (context) => {
    const [help, version, none] = await Promise.all([
      spawnCli(context, ['--help']),
      spawnCli(context, ['--version']),
      spawnCli(context, []),
    ])
    assert.match(help.stdout, /escapement run "<task>"/)
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.equal([help.code, version.code, none.code, none.stdout], [0, 0, 0, help.stdout])
  })

  it('has help for every command, in lines that fit', { timeoutMs }, async (context) => {
    const helps = await Promise.all(
      [['help'], ['help', 'show'], ['show', '--help'], ['help', 'shwo'], ['-v']].map((args) => runCli(context, args)),
    )
    const [all, show, option, unknown, version] = helps
    assert.equal(
      helps.map(({ code }) => code),
      [0, 0, 0, 2, 0],
    )
    assert.match(all?.stdout ?? '', /Work:\n(?:.*\n)+Sessions:\n(?:.*\n)+ {2}escapement show <id> .*\n(?:.*\n)+Logs:\n/)
    assert.match(show?.stdout ?? '', /^escapement show <id> \[options\](?:.*\n)+ {2}--request /)
    assert.is(option?.stdout, show?.stdout)
    assert.match(unknown?.stderr ?? '', /no command "shwo"\. Did you mean show\?/)
    assert.match(version?.stdout ?? '', /^\d+\.\d+\.\d+\n$/)
    for (const text of [helpText(commands), ...Object.entries(commands).map(([name, each]) => commandHelp(name, each))])
      for (const line of text.split('\n')) assert.ok(line.length <= 100, line)
  })

  for (const [title, args, message] of mistakes) {
    it(`names ${title} and exits with 2`, { timeoutMs }, async (context) => {
      const { code, stdout, stderr } = await runCli(context, args)
      assert.is(code, 2)
      assert.is(stdout, '')
      assert.match(stderr, message)
    })
  }

  it('says which key or package a model needs, and exits with 1', { timeoutMs }, async (context) => {
    const key = await runCli(context, ['run', 'x', '--model', 'anthropic:claude-sonnet-4-5'])
    assert.is(key.code, 1)
    assert.match(key.stderr, /ANTHROPIC_API_KEY is not set.*MODEL_UNAVAILABLE/)
    const missing = await runCli(context, ['run', 'x'], { env: { ESCAPEMENT_MODEL: 'google:gemini' } })
    assert.is(missing.code, 1)
    assert.match(missing.stderr, /npm install @ai-sdk\/google/)
  })

  it('says that it uses the embedded model, and why', { timeoutMs }, async (context) => {
    const { stderr } = await runCli(context, ['run', 'hello'], { env: { GOOGLE_GENERATIVE_AI_API_KEY: 'k' } })
    assert.match(
      stderr,
      /Using the embedded model.*GOOGLE_GENERATIVE_AI_API_KEY is set, but @ai-sdk\/google is not installed/,
    )
  })

  // Its package reads the environment once, when it is loaded.
  it('uses a real provider package with its key', { timeoutMs }, async (context) => {
    const server = await startWireServer()
    context.cleanup(() => server.close())
    const reply = { blocks: [{ text: ['Good ', 'day.'] }], stop: 'end_turn' }
    server.script(whole(anthropicWire, reply), whole(anthropicWire, reply))
    const env = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: `${server.url}/v1` }
    const named = await spawnCli(context, ['run', 'greet me', '--model', 'anthropic:claude-haiku-4-5'], { env })
    assert.is(named.code, 0, named.stderr)
    assert.match(named.stdout, /Good day\.\n.*done · 1 turn/)
    assert.is(server.requests[0]?.body['model'], 'claude-haiku-4-5')
    const found = await spawnCli(context, ['run', 'greet me'], { env })
    assert.is(found.code, 0, found.stderr)
    assert.match(found.stderr, /Using anthropic:claude-sonnet/)
    assert.match(String(server.requests[1]?.body['model']), /^claude-sonnet/)
  })

  it('writes plain text to a pipe and says where it is recorded', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, soundProject)
    const { code, stdout } = await runCli(context, ['run', 'fix the test', '--yes'], { cwd })
    assert.is(code, 0)
    assert.not.match(stdout, escape)
    assert.match(stdout, /✓ run_command node --test · exit code 0 · \d/)
    const log = /recorded in (.+\.jsonl)/.exec(stdout)?.[1] ?? ''
    assert.ok(log.startsWith(join(cwd, '.escapement')))
    assert.match(readFileSync(log, 'utf8'), /"type":"run.end"/)
    assert.is(readFileSync(join(cwd, '.escapement', '.gitignore'), 'utf8'), '*\n')
  })

  it('writes one event a line with --json, and nothing else', { timeoutMs }, async (context) => {
    const { code, stdout } = await spawnCli(context, ['run', 'fix the test', '--json', '--yes'], {
      cwd: projectFolder(context, soundProject),
    })
    assert.is(code, 0)
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AgentEvent)
    const types = events.map(({ type }) => type)
    assert.is(types[0], 'run.start')
    assert.is(types.filter((type) => type === 'run.end').length, 1)
    assert.ok(types.includes('tool.end') && types.includes('reply.delta'))
  })

  it('denies commands where nobody can be asked', { timeoutMs }, async (context) => {
    const { code, stdout } = await runCli(context, ['run', 'fix the test'], {
      cwd: projectFolder(context, soundProject),
    })
    assert.is(code, 1)
    assert.match(stdout, /✗ run_command node --test · Denied: /)
    assert.match(stdout, /run with --yes/)
  })

  it('stops the command and its processes on Ctrl-C and exits with 130', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, endlessProject)
    const child = startChild(context, cliCommand(['run', 'fix the test', '--yes', '--json']), { cwd })
    await waitFor(() => hasText(join(cwd, 'pid')), context.signal)
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'))
    child.signal('SIGINT')
    const { code, stdout, stderr } = await child.ended
    assert.is(code, 130)
    assert.match(stdout, /"type":"run.end".*"stopReason":"aborted"/)
    const [log = ''] = readdirSync(join(cwd, '.escapement')).filter((name) => name.endsWith('.jsonl'))
    assert.match(stderr, new RegExp(`^continue with: escapement resume ${log.replace('.jsonl', '')}$`, 'm'))
    await untilDead(pid, context.signal)
  })
})

describe('the command line whose output is closed early', (it) => {
  it('stops the command it runs before it ends', { timeoutMs }, async (context) => {
    const script = `${endlessProject['test.js']}process.stdout.on('error', () => {})\nsetInterval(() => console.log('tick'), 100)\n`
    const cwd = projectFolder(context, { ...endlessProject, 'test.js': script })
    const command = cliCommand(['run', 'Fix the failing test.', '--yes', '--json']).join("' '")
    const child = startChild(context, ['sh', '-c', `'${command}' | grep -m1 '"tool.progress"'`], { cwd })
    await waitFor(() => hasText(join(cwd, 'pid')), context.signal)
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'))
    context.cleanup(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
    assert.match((await child.ended).stdout, /tool\.progress/)
    await untilDead(pid, context.signal)
  })
})

describe('the chat over a pipe', (it) => {
  it('answers every line in order and ends with the input', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, soundProject)
    const { code, stdout } = await runCli(context, ['chat', '--yes'], {
      cwd,
      input: 'fix the test\n\n/help\nrepair the test again\n',
    })
    assert.is(code, 0, stdout)
    assert.is(stdout.match(/pass already/g)?.length, 2)
    assert.ok(stdout.indexOf('pass already') < stdout.indexOf('/quit'))
    assert.ok(stdout.indexOf('/quit') < stdout.lastIndexOf('pass already'))
    assert.not.match(stdout, escape)
    assert.is(readdirSync(join(cwd, '.escapement')).filter((name) => name.endsWith('.jsonl')).length, 1)
  })

  it('leaves at /quit and exits with 1 when an answer was not given', { timeoutMs }, async (context) => {
    const { code, stdout } = await runCli(context, ['chat'], { input: 'write a poem\n/quit\nfix the test\n' })
    assert.is(code, 1)
    assert.is(stdout.match(/embedded model/g)?.length, 1)
  })

  it('goes on after one SIGINT and leaves at the second', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, endlessProject)
    const child = startChild(context, cliCommand(['chat', '--yes']), { cwd })
    child.send('fix the test\n')
    await child.until('I run the tests')
    await waitFor(() => hasText(join(cwd, 'pid')), context.signal)
    child.signal('SIGINT')
    await child.until('✗ aborted')
    child.send('hello\n')
    await child.until('I am the embedded model')
    await child.until('not done')
    child.signal('SIGINT')
    const { code } = await child.ended
    assert.is(code, 130)
  })
})
