import { dockerSandbox } from '../../src/evaluation/dockerSandbox.ts'
import type { CommandSandbox } from '../../src/actors/tools/workspace/runCommand.ts'
import { armOf } from '../../src/evaluation/arms.ts'
import { runEvaluation } from '../../src/evaluation/evaluation.ts'
import { suiteTask, textFiles, type Suite } from '../../src/evaluation/suite/suite.ts'
import { taskSchema, type Task, type TaskImage } from '../../src/evaluation/suite/task.ts'
import { systemClock } from '../../src/protocol/clock.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import { defineAgent } from '../../src/actors/defineAgent.ts'
import { assert, describe } from '../support/suite.ts'
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
      const asked: [command: string, image: TaskImage | undefined][] = []
      const sandboxFor = (_: string, image?: TaskImage): CommandSandbox => ({
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
        sandboxFor,
      })
      assert.equal(asked, [
        ['true', { name: 'there.example/it:1', root: true }],
        ['false', task.image],
        ['true', { name: 'there.example/it:1', root: true }],
        ['false', task.image],
      ])
    },
  )

  it('has the folder where it says, and gives files back to their owner', () => {
    const argv = (options?: Pick<TaskImage, 'mount' | 'root'>): string =>
      dockerSandbox('it', '/work/w', options).launch("echo 'a'", '/work/w/b').argv.join(' ')
    assert.match(argv(), '--volume /work/w:/workspace --workdir /workspace/b it /bin/sh -c echo')
    assert.match(argv({ mount: '/app' }), "--volume /work/w:/app --workdir /app/b it /bin/sh -c echo 'a'")
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
      { mount: '/app' },
      { name: 'a', extra: 1 },
    ])
      assert.not.ok(isTask(bad), JSON.stringify(bad))
  })
})
