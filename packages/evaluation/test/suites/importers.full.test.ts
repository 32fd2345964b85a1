import { execFile } from 'node:child_process'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSuite } from '../../src/suite/readSuite.ts'
import { runCli } from '../../../cli/test/cliInProcess.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { fetched } from './suiteRuns.ts'

const instance = {
  instance_id: 'django__django-123',
  repo: 'django/django',
  base_commit: 'a'.repeat(40),
  problem_statement: 'It breaks.',
  patch: 'not to be seen',
  test_patch: 'diff --git a/tests/forms/test_it.py b/tests/forms/test_it.py\n--- a/tests/forms/test_it.py\n',
  version: '4.2',
  difficulty: '<15 min fix',
  FAIL_TO_PASS: '["test_it (forms.test_it.Case)"]',
  PASS_TO_PASS: ['test_other (forms.test_it.Case)'],
}

const json = async (path: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>

/** Runs a program in a folder; gives its exit code and what it printed. */
const run = (program: string, args: readonly string[], cwd: string): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    )
  })

describe('escapement eval import', (it) => {
  it(
    'makes tasks of SWE-bench with an image each, tests hidden, and says what it takes',
    { timeoutMs: 20_000 },
    async (context) => {
      const folder = await fetched(context, { 'verified.jsonl': `${JSON.stringify(instance)}\n` })
      const { code, stdout } = await runCli(
        context,
        ['eval', 'import', 'swe-bench', 'verified.jsonl', '--out', 'swe', '--json'],
        { cwd: folder },
      )
      assert.is(code, 0)
      const said = JSON.parse(stdout) as { tasks: number; needs: string[]; differs: string[] }
      assert.is(said.tasks, 1)
      assert.match(said.needs[0]!, 'images.sh')
      assert.match(await readFile(join(folder, 'swe/images.sh'), 'utf8'), "docker pull 'swebench/sweb.eval")
      assert.ok(said.differs.length > 2)
      const task = await json(join(folder, 'swe/django__django-123/task.json'))
      const image = { name: 'swebench/sweb.eval.x86_64.django_1776_django-123:latest', mount: '/testbed' }
      assert.equal(task['image'], image)
      assert.not.match(JSON.stringify(task), 'not to be seen')
      const check = join(folder, 'swe/django__django-123/check/.swe-check')
      assert.match(await readFile(join(check, 'check.sh'), 'utf8'), "--parallel 1 'forms.test_it' >")
      assert.equal(await json(join(check, 'tests.json')), {
        failToPass: ['test_it (forms.test_it.Case)'],
        passToPass: ['test_other (forms.test_it.Case)'],
      })
      assert.equal((await readSuite(join(folder, 'swe'), '/')).tasks[0]!.image, image)
    },
  )

  it('judges the lines of three test runners as SWE-bench wants them', { timeoutMs: 20_000 }, async (context) => {
    const folder = await fetched(context, { 'verified.jsonl': `${JSON.stringify(instance)}\n` })
    await runCli(context, ['eval', 'import', 'swe-bench', 'verified.jsonl', '--out', 'swe'], { cwd: folder })
    const judge = join(folder, 'swe/django__django-123/check/.swe-check/judge.py')
    const judged = async (output: string, wanted: readonly string[]): Promise<{ code: number; output: string }> => {
      await writeFile(join(folder, 'output.txt'), output)
      await writeFile(join(folder, 'tests.json'), JSON.stringify({ failToPass: wanted, passToPass: [] }))
      return run('python3', [judge, 'output.txt', 'tests.json'], folder)
    }
    if ((await run('python3', ['--version'], folder)).code !== 0) return
    assert.is((await judged('PASSED tests/a.py::test_x[1]\n', ['tests/a.py::test_x[1]'])).code, 0)
    assert.is((await judged('test_it (forms.Case) ... ok\n', ['test_it (forms.Case)'])).code, 0)
    assert.is((await judged('test_limit ok\n', ['test_limit'])).code, 0)
    for (const output of [
      'FAILED tests/a.py::b - assert 1 == 2\n',
      'tests/a.py::b ... FAIL\n',
      '',
      'SKIPPED tests/a.py::b\n',
    ]) {
      const { code, output: said } = await judged(output, ['tests/a.py::b'])
      assert.is(code, 1, output)
      assert.match(said, 'not passed: tests/a.py::b')
    }
  })

  it(
    'makes puzzles of InterCode without their solutions and those that need downloads, and refuses Bash and SQL',
    { timeoutMs: 20_000 },
    async (context) => {
      const folder = await fetched(context, {
        'ctf/ic_ctf.json': [
          { task_id: 0, query: 'Find it.', gold: 'picoCTF{x}', source: 'there', tags: ['Forensics'] },
          { task_id: 1, query: 'Download it.', gold: 'picoCTF{y}', setup: 'wget https://there.example/file' },
        ],
        'ctf/task_assets/0/a.txt': 'the file',
        'ctf/task_assets/0/solution/README.md': 'picoCTF{x}',
        'nl2bash_fs_1.json': [{ query: 'List it.', gold: 'ls' }],
      })
      const { code, stdout } = await runCli(
        context,
        ['eval', 'import', 'intercode', 'ctf/ic_ctf.json', '--out', 'ctf-suite', '--json'],
        { cwd: folder },
      )
      assert.is(code, 0)
      assert.match(stdout, '1 puzzles are left out')
      const { tasks } = await readSuite(join(folder, 'ctf-suite'), '/')
      assert.equal(
        tasks.map(({ id, files }) => [id, files.map(({ path }) => path)]),
        [['ctf-0', ['a.txt']]],
      )
      const refused = await runCli(context, ['eval', 'import', 'intercode', 'nl2bash_fs_1.json', '--out', 'no'], {
        cwd: folder,
      })
      assert.is.not(refused.code, 0)
      assert.match(refused.stderr, 'Bash and SQL are not imported')
    },
  )

  it('makes exercises of InterCode whose tests decide', { timeoutMs: 20_000 }, async (context) => {
    const row = {
      task_id: 7,
      query: 'Double it.',
      gold: '',
      tests: ['assert double(2) == 4', 'assert double(0) == 0'],
      test_setup_code: '',
    }
    const folder = await fetched(context, { 'ic_mbpp.json': [row] })
    await runCli(context, ['eval', 'import', 'intercode', 'ic_mbpp.json', '--out', 'python'], { cwd: folder })
    const { tasks } = await readSuite(join(folder, 'python'), '/')
    assert.match(tasks[0]!.prompts[0]!, 'The function is called double')
    const work = join(folder, 'python/python-7/check')
    if ((await run('python3', ['--version'], folder)).code !== 0) return
    await writeFile(join(work, 'solution.py'), 'def double(x):\n    return x + 2\n')
    assert.is.not((await run('python3', ['check_solution.py'], work)).code, 0)
    await writeFile(join(work, 'solution.py'), 'def double(x):\n    return 2 * x\n')
    assert.is((await run('python3', ['check_solution.py'], work)).code, 0)
  })

  it(
    'makes a suite of tau2-bench that wants its tools, and whose scorers look at calls',
    { timeoutMs: 20_000 },
    async (context) => {
      const folder = await fetched(context, {
        'retail/policy.md': 'Be strict.',
        'retail/tasks.json': [
          {
            id: '0',
            user_scenario: {
              instructions: {
                domain: 'retail',
                reason_for_call: 'Exchange it.',
                known_info: 'I am Ada.',
                task_instructions: 'Be brief.',
              },
            },
            evaluation_criteria: {
              actions: [
                { action_id: '0_0', name: 'get_order_details', arguments: { order_id: '#1' } },
                {
                  action_id: '0_1',
                  name: 'cancel_pending_order',
                  arguments: { order_id: '#1', reason: 'no longer needed' },
                  compare_args: ['order_id'],
                },
              ],
              communicate_info: ['54.04'],
              nl_assertions: null,
              reward_basis: ['DB', 'COMMUNICATE'],
            },
          },
        ],
      })
      const { code, stdout } = await runCli(
        context,
        ['eval', 'import', 'tau2-bench', 'retail', '--out', 'tau2', '--json'],
        { cwd: folder },
      )
      assert.is(code, 0)
      assert.match(stdout, 'There is no simulated user')
      const task = await json(join(folder, 'tau2/task-0/task.json'))
      assert.match(String((task['prompts'] as string[])[0]), 'Exchange it.\n\nI am Ada.\n\nBe brief.')
      assert.equal(task['check'], [
        { scorer: 'called', name: 'cancel_pending_order 1', tool: 'cancel_pending_order', input: { order_id: '#1' } },
        { scorer: 'said', name: 'says 54.04', text: '54.04' },
      ])
      assert.match(
        await readFile(join(folder, 'tau2/tools.mjs'), 'utf8'),
        '["cancel_pending_order","get_order_details"]',
      )
    },
  )

  it(
    'makes tasks of both formats of Terminal-Bench, leaves several services out, and says how images are had',
    { timeoutMs: 20_000 },
    async (context) => {
      const folder = await fetched(context, {
        'tasks/old/task.yaml':
          'instruction: |-\n  Write hello.txt.\ndifficulty: easy\ntags:\n  - files\nmax_agent_timeout_sec: 90.0\n',
        'tasks/old/run-tests.sh': 'pytest /tests/test_outputs.py\n',
        'tasks/old/tests/test_outputs.py': 'pass\n',
        'tasks/old/solution.sh': 'echo secret\n',
        'tasks/new/task.toml':
          'version = "1.0"\n[metadata]\ndifficulty = "hard"\n[verifier]\ntimeout_sec = 30.0\n[environment]\ndocker_image = "there.example/new:1"\n',
        'tasks/new/instruction.md': 'Do it.\n',
        'tasks/new/tests/test.sh': 'echo 1 > /logs/verifier/reward.txt\n',
        'tasks/web/task.yaml': 'instruction: Serve it.\n',
        'tasks/web/run-tests.sh': 'true\n',
        'tasks/web/docker-compose.yaml': 'services:\n  client:\n    build: .\n  server:\n    build: ./server\n',
      })
      const { code, stdout } = await runCli(
        context,
        ['eval', 'import', 'terminal-bench', 'tasks', '--out', 'tb', '--json'],
        { cwd: folder },
      )
      assert.is(code, 0)
      assert.match(stdout, 'Left out, as they need several services: web.')
      const { tasks } = await readSuite(join(folder, 'tb'), '/')
      assert.equal(
        tasks.map(({ id, image, limits, tags }) => [id, image?.name, image?.mount, limits.ms, tags]),
        [
          ['new', 'there.example/new:1', '/app', 600_000, ['hard']],
          ['old', 'terminal-bench/old', '/app', 90_000, ['files', 'easy']],
        ],
      )
      assert.equal(
        tasks[1]!.checkFiles.map(({ path }) => path),
        ['.tests/run-tests.sh', '.tests/test_outputs.py'],
      )
      assert.equal(tasks[1]!.files, [])
      const images = await readFile(join(folder, 'tb/images.sh'), 'utf8')
      assert.match(images, "docker pull 'there.example/new:1'\n")
      assert.match(images, `docker build -t 'terminal-bench/old' '${join(folder, 'tasks/old')}'\n`)
    },
  )

  it(
    'gives Docker the images of tasks word by word, whatever their folders are called',
    { timeoutMs: 20_000 },
    async (context) => {
      const awkward = "it's $(touch made) a; touch made `touch made`"
      const folder = await fetched(context, {
        [`tasks/${awkward}/task.toml`]: '[metadata]\ndifficulty = "hard"\n',
        [`tasks/${awkward}/instruction.md`]: 'Do it.',
        'bin/docker': '#!/bin/sh\nprintf "%s\\n" "$#" "$@"\n',
      })
      await chmod(join(folder, 'bin/docker'), 0o755)
      const { code, stderr } = await runCli(context, ['eval', 'import', 'terminal-bench', 'tasks', '--out', 'tb'], {
        cwd: folder,
      })
      assert.is(code, 0, stderr)
      const said = await run('sh', ['-c', 'PATH="$PWD/bin:$PATH" sh tb/images.sh'], folder)
      const image = 'terminal-bench/it-s-touch-made-a-touch-made-touch-made-'
      const built = join(folder, 'tasks', awkward, 'environment')
      assert.equal(said, { code: 0, output: ['4', 'build', '-t', image, built, ''].join('\n') })
      assert.not.ok((await readdir(folder)).includes('made'))
    },
  )

  it('takes no image whose name is none', { timeoutMs: 20_000 }, async (context) => {
    const folder = await fetched(context, {
      'tasks/new/task.toml': '[environment]\ndocker_image = "a$(touch made)"\n',
      'tasks/new/instruction.md': 'Do it.',
      'rows.jsonl': JSON.stringify({ ...instance, instance_id: 'a__b-1; touch made' }),
    })
    const cases = [
      ['terminal-bench', 'tasks', /new\/task\.toml: environment\.docker_image: is not the name of an image/],
      ['swe-bench', 'rows.jsonl', /row 1: instance_id: /],
    ] as const
    for (const [format, path, says] of cases) {
      const { code, stderr } = await runCli(context, ['eval', 'import', format, path, '--out', 'made'], { cwd: folder })
      assert.is.not(code, 0, format)
      assert.match(stderr, says)
      assert.not.ok((await readdir(folder)).includes('made'))
    }
  })

  it('says what is wrong, and leaves nothing', { timeoutMs: 20_000 }, async (context) => {
    const folder = await fetched(context, {
      'a.jsonl': `${JSON.stringify(instance)}\nnot json\n`,
      'b.jsonl': JSON.stringify({ ...instance, base_commit: '$(rm)' }),
      'twice.jsonl': `${JSON.stringify(instance)}\n${JSON.stringify(instance)}\n`,
      'parquet.jsonl': 'PAR1xx',
      'full/there.txt': '',
    })
    const cases: readonly (readonly [args: readonly string[], says: string])[] = [
      [[], 'Say what to import: swe-bench, intercode, tau2-bench, terminal-bench.'],
      [['swe-bensh', 'a.jsonl', '--out', 'o'], 'Did you mean "swe-bench"?'],
      [['swe-bench'], 'needs a path: SWE-bench Verified as JSON lines'],
      [['swe-bench', 'a.jsonl'], 'needs --out <folder>'],
      [['swe-bench', 'none.jsonl', '--out', 'o'], 'cannot be read'],
      [['swe-bench', 'a.jsonl', '--out', 'o'], 'a.jsonl:2: this line is not JSON'],
      [['swe-bench', 'b.jsonl', '--out', 'o'], 'row 1: base_commit: is not a commit'],
      [['swe-bench', 'parquet.jsonl', '--out', 'o'], 'is a Parquet file'],
      [['swe-bench', 'twice.jsonl', '--out', 'o'], 'Two tasks have the id "django__django-123"'],
      [['swe-bench', 'a.jsonl', '--out', 'full'], 'line is not JSON'],
      [['terminal-bench', 'full', '--out', 'o'], 'has no task of Terminal-Bench'],
      [['tau2-bench', 'full', '--out', 'o'], 'has no policy.md'],
      [['intercode', 'b.jsonl', '--out', 'o'], 'row 1'],
    ]
    for (const [args, says] of cases) {
      const { code, stderr } = await runCli(context, ['eval', 'import', ...args], { cwd: folder })
      assert.is.not(code, 0, says)
      assert.match(stderr, says)
    }
    assert.is((await run('ls', ['o'], folder)).code === 0, false)
  })
})
