import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { evaluate } from '../../../../src/testing.ts'
import { dockerSandbox } from '../../src/dockerSandbox.ts'
import type { CommandSandbox } from '../../../tools/src/workspace/localWorkspace.ts'
import { armOf } from '../../src/arms.ts'
import { runEvaluation } from '../../src/evaluation.ts'
import { suiteTask, textFiles, type Suite } from '../../src/suite/suite.ts'
import { taskSchema, type Task, type TaskImage } from '../../src/suite/task.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { fakeDocker, withoutEngine } from '../../../cli/test/fakeDocker.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { scratchFolder } from './suiteRuns.ts'

const task: Task = {
  id: 'imaged',
  prompts: ['Go.'],
  setup: 'true',
  check: 'false',
  image: { name: 'there.example/it:1', mount: '/app', root: true },
}

describe('the image of a task', (it) => {
  it(
    'is where its commands run, and is set up beside what the image has at that place',
    { timeoutMs: 20_000 },
    async (context) => {
      const asked: [command: string, image: TaskImage][] = []
      const containerFor = (_: string, image: TaskImage): CommandSandbox => ({
        description: 'It runs elsewhere.',
        launch: (command) => {
          asked.push([command, image])
          return { argv: ['/bin/sh', '-c', command] }
        },
      })
      const suite: Suite = {
        name: 'imaged',
        digest: 'x',
        tasks: [suiteTask(task, textFiles(), textFiles())],
        definition: {},
        judged: [],
      }
      await runEvaluation({
        suite,
        source: ({ model, tools }) => defineAgent({ name: 'a', model, tools }),
        arms: [armOf('off')],
        trials: 1,
        seed: 1,
        concurrency: 1,
        folder: await scratchFolder(context),
        clock: systemClock,
        signal: context.signal,
        model: policyModel(() => 'Done.'),
        containerFor,
      })
      assert.equal(asked, [
        ['true', { name: 'there.example/it:1', root: true }],
        ['false', task.image],
        ['true', { name: 'there.example/it:1', root: true }],
        ['false', task.image],
      ])
    },
  )

  it('is where its commands run in code too, and nowhere without an engine', { timeoutMs: 20_000 }, async (context) => {
    const folder = await scratchFolder(context)
    const { asked } = fakeDocker(context, folder)
    const agent = defineAgent({ name: 'a', model: policyModel(() => 'Done.') })
    const named: Task = {
      id: 'named',
      prompts: ['Go.'],
      setup: 'echo made > made',
      check: 'test -f made',
      image: 'it:1',
    }
    const { results } = await evaluate(agent, [named, { ...named, id: 'other', image: 'it:2' }])
    assert.equal(
      results.map(({ outcome }) => outcome),
      ['passed', 'passed'],
    )
    const images = (): string[] => asked().flatMap((line) => /^run .* (it:\d) \/bin\/sh -c /.exec(line)?.[1] ?? [])
    assert.equal(images().toSorted(), [...Array<string>(4).fill('it:1'), ...Array<string>(4).fill('it:2')])
    const { image: _, ...plain } = named
    await evaluate(agent, [plain], {}, { docker: 'it:3' })
    assert.is(images().filter((image) => image === 'it:3').length, 4)
    await assert.rejects(
      evaluate(agent, [plain], {}, { docker: '--rm' }),
      /evaluate: docker: is not the name of an image/,
    )
    const none = { ...named, image: 'missing' }
    await assert.rejects(evaluate(agent, [none]), /The task "named" needs the image "missing", which is not here/)
    withoutEngine(context)
    const out = join(folder, 'out')
    const touching: Task = { ...named, setup: `touch ${join(folder, 'touched')}` }
    await assert.rejects(
      evaluate(agent, [{ ...plain, id: 'plain' }, touching], {}, { out }),
      /The task "named" needs the program docker and its engine: no engine here/,
    )
    assert.not.ok(existsSync(out) || existsSync(join(folder, 'touched')))
  })

  it('has the folder where it says, and gives files back to their owner', () => {
    const argv = (options?: Pick<TaskImage, 'mount' | 'root'>): string =>
      dockerSandbox('/srv/w', { name: 'it', ...options })
        .launch("echo 'a'", '/srv/w/b')
        .argv.join(' ')
    assert.match(argv(), '--volume /srv/w:/workspace --workdir /workspace/b it /bin/sh -c echo')
    for (const options of [{}, { root: true }]) {
      const confined = '--pids-limit 1024 --memory 8g --memory-swap 8g --cap-drop ALL --security-opt no-new-privileges'
      assert.match(argv(options), `--network none ${confined}`)
    }
    assert.not.match(argv(), '--cap-add')
    assert.match(argv({ mount: '/app' }), "--volume /srv/w:/app --workdir /app/b it /bin/sh -c echo 'a'")
    const root = argv({ mount: '/app', root: true })
    assert.match(root, '--user 0:0')
    assert.match(
      root,
      `/bin/sh -c 'echo '\\''a'\\'''\ncode=$?\nchown -R ${process.getuid!()}:${process.getgid!()} /app 2>/dev/null\nexit $code`,
    )
  })

  it('has a name, and a place that is absolute', () => {
    const isTask = (image: unknown): boolean => taskSchema().safeParse({ ...task, image }).success
    assert.ok(isTask('python:3.12') && isTask({ name: 'a/b@sha256:00' }))
    for (const bad of [
      '',
      '-it',
      'A',
      'a b',
      { name: 'a', mount: 'app' },
      { name: 'a', mount: '/a b' },
      { name: 'a', mount: '/../../etc' },
      { name: 'a', mount: '/app/..' },
      { name: 'a', mount: '/./etc' },
      { mount: '/app' },
      { name: 'a', extra: 1 },
    ])
      assert.not.ok(isTask(bad), JSON.stringify(bad))
  })
})
