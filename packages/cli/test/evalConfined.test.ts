import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { inFolder, suite } from './evalProject.ts'
import { fakeDocker, withoutEngine } from './fakeDocker.ts'

describe('escapement eval with containers', (it) => {
  const withDocker = (context: CaseContext, files: Readonly<Record<string, string>> = suite) => {
    const { cwd, run } = inFolder(context, files)
    return { cwd, run, ...fakeDocker(context, cwd) }
  }

  it(
    'runs every command of setup, agent and checks in one of its own, without a network',
    { timeoutMs: 20_000 },
    async (context) => {
      const files = {
        ...suite,
        'mini/write/task.json': suite['mini/write/task.json'].replace('{ "prompts"', '{ "setup": "pwd", "prompts"'),
      }
      const { run, asked, cwd } = withDocker(context, files)
      const { code, stderr } = await run('mini', '--docker', 'node:24', '--out', 'out')
      assert.is(code, 0, stderr)
      const runs = asked().filter((line) => line.startsWith('run '))
      // Untouched: setup and check; the trial: setup, the agent's command, check.
      assert.is(runs.length, 5)
      const user = `${process.getuid!()}:${process.getgid!()}`
      for (const line of runs) {
        assert.match(line, /^run --rm --init --name escapement-[0-9a-f]{16} --network none /)
        assert.match(
          line,
          new RegExp(
            `--user ${user} --env HOME=/tmp --env NO_COLOR=1 --volume ${cwd}/out/workspaces/\\.work-[0-9a-f]{10}:/workspace --workdir /workspace node:24 /bin/sh -c `,
          ),
        )
      }
      assert.ok(runs.some((line) => line.endsWith('/bin/sh -c echo made > made.txt')))
    },
  )

  it('says how it goes on in containers, and goes on in them', { timeoutMs: 20_000 }, async (context) => {
    const { cwd, run, asked } = withDocker(context, {
      ...suite,
      'my prices.json': '{ "embedded:obedient": { "input": 0, "output": 50000 } }',
    })
    const runs = (): number => asked().filter((line) => line.startsWith('run ')).length
    const given = ['--model', 'embedded', '--concurrency', '1', '--prices', 'my prices.json', '--docker', 'node:24']
    const { stderr } = await run('mini', '--out', 'out', '--budget', '0.4', ...given)
    assert.match(
      stderr,
      `Continue with: escapement eval mini --resume ${cwd}/out ${given.join(' ').replace('my prices.json', "'my prices.json'")} --budget <more>\n`,
    )
    const before = runs()
    const more = await run('mini', '--resume', join(cwd, 'out'), ...given, '--budget', '5')
    assert.is(more.code, 0, more.stderr)
    assert.ok(runs() > before)
  })

  it('kills the container of a command that takes too long, by its name', { timeoutMs: 20_000 }, async (context) => {
    const slow = {
      ...suite,
      'mini/hello/task.json': '{ "prompts": ["say: hello"], "check": { "command": "sleep 600", "timeoutMs": 200 } }',
    }
    const { run, asked } = withDocker(context, slow)
    await run('mini', '--docker', 'node:24', '--out', 'out')
    const removed = asked().flatMap((line) => /^rm --force (escapement-[0-9a-f]{16})$/.exec(line)?.[1] ?? [])
    assert.is(new Set(removed).size, 2)
    // On a busy machine one may be killed before it has noted its name.
    const slept = asked().flatMap((line) => (line.endsWith('sleep 600') ? [/--name (\S+)/.exec(line)![1]!] : []))
    for (const name of slept) assert.ok(removed.includes(name), name)
  })

  it('says that there is no engine, or not that image, before anything runs', async (context) => {
    const { run } = withDocker(context)
    assert.match(
      (await run('mini', '--docker', 'missing')).stderr,
      /--docker needs the image "missing", which is not here: docker pull missing\./,
    )
    assert.match(
      (await run('mini', '--docker=--privileged')).stderr,
      /--docker takes the name of an image, such as node:24; it got "--privileged"\..*\(INVALID_OPTION\)/,
    )
    withoutEngine(context)
    assert.match(
      (await run('mini', '--docker', 'node:24')).stderr,
      /--docker needs the program docker and its engine: no engine here/,
    )
    const { run: runTasks } = withDocker(context, {
      ...suite,
      'mini/write/task.json': suite['mini/write/task.json'].replace(
        '{ "prompts"',
        '{ "image": { "name": "busybox" }, "prompts"',
      ),
    })
    assert.match((await runTasks('mini')).stderr, /The task "write" needs the program docker and its engine/)
  })

  it(
    'goes on only where it began: nothing of it runs on this machine without --docker',
    { timeoutMs: 20_000 },
    async (context) => {
      const { run, asked } = withDocker(context)
      assert.is((await run('mini', '--docker', 'node:24', '--out', 'out')).code, 0)
      const runs = (): number => asked().filter((line) => line.startsWith('run ')).length
      const before = runs()
      const without = await run('mini', '--resume', 'out', '--trials', '1')
      assert.is(without.code, 1)
      assert.match(
        without.stderr,
        /out has another evaluation: commands of tasks that name no image ran in containers \(--docker node:24\), and would run on this machine \(without --docker\)\./,
      )
      assert.match(
        (await run('mini', '--out', 'out', '--docker', 'node:22')).stderr,
        /ran in containers \(--docker node:24\), and would run in containers \(--docker node:22\)\..*\(EVALUATION_CHANGED\)/,
      )
      assert.is(runs(), before)
      assert.is((await run('mini', '--docker', 'node:24', '--resume', 'out')).code, 0)
    },
  )
})

describe('escapement eval with secrets in its configuration', (it) => {
  it('keeps them out of logs, recordings, results and reports', { timeoutMs: 20_000 }, async (context) => {
    const secret = 'abracadabra'
    const said = suite['mini/suite.js'].replace(
      'export default defineSuite({',
      `const judge = policyModel(() => JSON.stringify({ reason: 'It said ${secret}.', score: 1 }), { id: 'embedded:judge' })
export default defineSuite({
  scorers: { quotes: () => ({ value: 1, reason: 'seen: ${secret}' }) },`,
    )
    const { cwd, run } = inFolder(context, {
      ...suite,
      'mini/suite.js': said.replace('models: {', 'models: { judge: () => judge,'),
      'mini/hello/task.json': JSON.stringify({
        prompts: [`say: ${secret}`],
        check: [{ scorer: 'quotes' }, { judge: 'It is said.' }, { command: `echo ${secret}; false`, required: false }],
      }),
      'mini/broken/task.json': JSON.stringify({ prompts: ['say: x'], setup: `echo ${secret}; exit 3`, check: 'true' }),
      'escapement.config.js': `export default { redact: { secrets: { KEY: '${secret}' } } }`,
    })
    const { stdout, stderr } = await run('mini', '--record', '--out', 'out')
    assert.match(stderr, /passed hello/)
    const files = readdirSync(join(cwd, 'out'), { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    assert.is(texts.filter((text) => text.includes('[redacted:KEY]')).length > 4, true)
    for (const [index, text] of [...texts, stdout, stderr].entries())
      assert.not.ok(text.includes(secret), `${files[index]?.parentPath}/${files[index]?.name}`)
    const replayed = await run('mini', '--replay', 'out', '--out', 'again')
    assert.match(replayed.stderr, /passed hello/)
    // Results of commands say how long they took, so those may differ.
    const lines = readFileSync(join(cwd, 'again/results.jsonl'), 'utf8').split('\n')
    assert.not.match(
      lines.find((line) => line.includes('"key":"hello/'))!,
      'differences',
    )
  })
})
