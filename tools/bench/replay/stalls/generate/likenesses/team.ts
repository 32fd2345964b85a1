import { prose } from '../../../generate/project.ts'
import { tool } from '../../../generate/toolSpec.ts'
import { tools } from '../tools.ts'
import type { MadeCall, MadeStep } from '../scenario.ts'
import type { Workplace } from '../workplace.ts'
import { look, times, type Likeness } from './likeness.ts'

/** Commands that wait, as agents write them, and what they print. */
const waits: readonly (readonly [command: string, output: string])[] = [
  ['sleep 60 && echo "waited"', 'waited'],
  ['sleep 120; tail -n 3 work.log', 'worker 2: reading src\nworker 1: tests run'],
  ['while ! test -f out/done; do sleep 5; done', 'still no out/done'],
  ['timeout 90 tail -f work.log', 'worker 1: tests run'],
  ['bash -c "sleep 30 && ls out"', 'a.md'],
  ['for i in 1 2 3; do sleep 20; done; git status --short', ''],
  ['python3 -c "import time; time.sleep(45)"', ''],
]

const message = (at: Workplace, to: string): MadeCall => ({
  tool: 'send_message',
  input: { to, text: prose(at.random, 8) },
  output: 'sent',
  changed: ['inbox'],
})

/** Waits for the others: sleeps, asks for the tasks, or one after the other. */
function wait(at: Workplace): MadeStep[] {
  const [command, output] = at.random.pick(waits)
  const sleep = at.command(command, output)
  const tasks: MadeCall = {
    tool: 'task_list',
    input: {},
    output: times(
      4,
      (index) => `#${index + 1} ${prose(at.random, 4)} [${index === 0 ? 'completed' : 'in_progress'}]`,
    ).join('\n'),
  }
  const rounds = at.random.between(1, 9)
  const way = at.random.between(1, 3)
  if (way === 1) return times(rounds, () => at.step(sleep))
  if (way === 2) return times(rounds, () => [at.step(sleep), at.step(tasks)]).flat()
  return times(Math.min(rounds, 4), () => at.step(tasks))
}

const work = (at: Workplace): MadeStep[] =>
  times(at.random.between(2, 5), () => [
    at.step(message(at, `worker ${at.random.between(1, 4)}`)),
    ...wait(at),
    ...look(at, 2, 8),
    ...at.finish(at.file()),
  ]).flat()

export const teamRuns: Likeness = {
  name: 'orchestrator of a team',
  tools: [
    ...tools,
    tool('send_message', 'Sends a message to another agent.', 'to', 'text'),
    tool('task_list', 'Lists the tasks of the team.'),
  ],
  polling: ['task_list'],
  passed: 0.7,
  passing: work,
  failing: (at) => {
    const [dead, empty] = [message(at, 'worker 9'), at.read(at.file())]
    return [...work(at), ...times(at.random.between(4, 10), () => [at.step(dead), at.step(empty)]).flat()]
  },
}
