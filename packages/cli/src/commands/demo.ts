import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { addressOf } from '../addressOf.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { openPage } from '../demo/demoPage.ts'
import { runLongDemo } from '../demo/long/longDemo.ts'
import { runStallDemo } from '../demo/stall/stallDemo.ts'
import { runSortDemo } from '../demo/sortDemo.ts'
import { verify } from '../demo/verify.ts'
import { openWorkshop, type Workshop } from '../demo/workshop.ts'
import { chooseModel } from '../models/chooseModel.ts'
import { openSession } from '../sessions/openSession.ts'
import { codeOf, runTask } from '../chat/runTask.ts'
import { coloursFor } from '../terminal/colours.ts'
import { tell } from '../terminal/wordWrap.ts'

const standingTask = 'Fix the failing test.'
const wordDelayMs = 18

/** Matches commands of the sample project that need no approval. */
const testCommand = /^(?:npm (?:run )?test(?: --silent)?|node --test(?: [\w./-]+)*)$/

const brakingDemos = { sort: runSortDemo, long: runLongDemo, stall: runStallDemo }
const isBraking = (task: string | undefined): task is keyof typeof brakingDemos =>
  task !== undefined && Object.hasOwn(brakingDemos, task)

/** Rejects a task that resembles the name of a demo, as it is probably a typing mistake. Any other text is a task for the sample project. */
function checkTask(task: string): void {
  const nearest = isBraking(task) ? undefined : nearestWord(task, Object.keys(brakingDemos))
  if (nearest !== undefined)
    throw new RuntimeError('INVALID_OPTION', `There is no demo "${task}". Did you mean "${nearest}"?`)
}

/**
 * `escapement demo`: repairs a sample project in a temporary folder. Without a task it needs no key and no network;
 * with one, the model is chosen as for `run`. `demo sort` abandons a dead end, `demo long` folds a long run, and
 * `demo stall` detects a loop.
 */
export const demoCommand: CommandRun = async (invocation, host) => {
  const { task, model, timeLimit, json, yes, stay } = invocation
  // Report a mistake in it before anything is created.
  addressOf(invocation, host)
  if (task !== undefined) checkTask(task)
  if (timeLimit !== undefined && task !== 'sort')
    throw new RuntimeError('INVALID_OPTION', '--time-limit goes with "demo sort" only.')
  if (isBraking(task)) return brakingDemos[task](invocation, host)
  const asked = model ?? (task === undefined ? 'embedded' : undefined)
  const choice = await chooseModel({
    asked,
    env: host.env,
    dir: host.cwd(),
    wordDelayMs: stay || host.stdout.isTTY ? wordDelayMs : 0,
  })
  if (choice.notice !== undefined) tell(host.stderr, `${choice.notice}\n`)
  const workshop = openWorkshop()
  // The embedded model may run only the project's own test command; a real model's calls need approval as usual.
  const needsApproval = (command: string): boolean => !yes && !choice.isEmbedded && !testCommand.test(command)
  const session = await openSession({ ...workshop, choice, needsApproval })
  const said = task ?? standingTask
  if (!json) tell(host.stdout, opening(workshop.dir, choice.model.id, said, host))
  try {
    const page = await openPage(session, invocation, host)
    const code = codeOf(await runTask(session, said, { host, json, isPriced: choice.isEmbedded }))
    if (code === exitCodes.interrupted) return code
    const passes = await verify(workshop, ['--test'], { host, timeoutMs: 60_000 })
    if (passes === undefined) return exitCodes.interrupted
    if (!json) tell(host.stdout, summary(workshop, passes, host))
    await page.stay()
    // A custom task may not be about the tests.
    return task === undefined && !passes ? exitCodes.failed : code
  } finally {
    await session.close()
  }
}

function opening(dir: string, modelId: string, task: string, host: CliHost): string {
  const { bold, dim } = coloursFor(host.stdout, host.env, host.theme)
  return `${bold('A sample project with a failing test')} ${dim(`is in ${dir}; the model is ${modelId}.`)}\n${bold('Task:')} ${task}\n\n`
}

function summary(workshop: Workshop, passes: boolean, host: CliHost): string {
  const { bold, dim, green, red } = coloursFor(host.stdout, host.env, host.theme)
  // In a clone, `escapement` is not on the path, but `npm start` works.
  const start = host.env['npm_lifecycle_event'] === 'start' ? 'npm start --' : 'escapement'
  const again = start === 'escapement' ? 'escapement run' : start
  const verdict = passes ? green('the tests pass') : red('the tests still fail')
  const changes = workshop.changes()
  const diff = changes
    .split('\n')
    .map((line) => (line.startsWith('+') ? green(line) : line.startsWith('-') ? red(line) : line))
    .join('\n')
  return `
${bold('Checked once more, by running them apart from the agent:')} ${verdict}.
${changes === '' ? 'No file was changed.' : `${bold('What changed:')}\n\n${diff}`}

${dim(`Next, with a real model: set ANTHROPIC_API_KEY, then ${again} "<task>"; ${start} --help says more.`)}
`
}
