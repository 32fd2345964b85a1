import { tell } from '../../terminal/wordWrap.ts'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { counted, whole } from '../../../../charts/src/amounts.ts'
import { savedWords } from '../../../../charts/src/savingsWords.ts'
import { systemClock } from '../../../../../src/protocol/ports/clock.ts'
import { type CliHost, exitCodes } from '../../cliHost.ts'
import type { Invocation } from '../../commandLine.ts'
import { chooseModel, type ModelChoice } from '../../models/chooseModel.ts'
import { openSession } from '../../sessions/openSession.ts'
import { codeOf, runTask } from '../../chat/runTask.ts'
import { coloursFor } from '../../terminal/colours.ts'
import { openPage } from '../demoPage.ts'
import { verify } from '../verify.ts'
import { openWorkshop } from '../workshop.ts'
import { callProject, projectCheckFile, usualModules } from './callProject.ts'
import { FoldView, type FoldCounts } from './foldView.ts'
import { longModel } from './longPolicy.ts'
import { longCheckCommand, longTask } from './longTask.ts'
import { sparkline } from './sparkline.ts'

/** Milliseconds between words where a person watches; a run of hundreds of replies then takes some ten seconds. */
const wordDelayMs = 4
const maxTurns = 2_000

const pageHint =
  'In its details, "Usage" shows the tokens of each turn; the conversation shows what was folded, and its memos.'

/**
 * `escapement demo long`: the agent works through `modules` files with folding on, and its work is then checked. Needs no key. When the model needs
 * a fact that was folded away, it finds it in the index and recalls it.
 */
export async function runLongDemo(invocation: Invocation, host: CliHost, modules = usualModules): Promise<number> {
  const { json, yes } = invocation
  const choice = await chooseLong(invocation, host)
  const project = callProject(modules)
  const workshop = openWorkshop(project)
  const session = await openSession({
    ...workshop,
    choice,
    braking: { fold: true },
    needsApproval: (command) => !yes && command !== longCheckCommand,
    limits: { turns: maxTurns },
  })
  const colours = coloursFor(host.stdout, host.env, host.theme)
  if (!json) {
    const where = colours.dim(`The folder is ${workshop.dir}; the model is ${choice.model.id}.`)
    tell(
      host.stdout,
      `${colours.bold('A task of hundreds of steps.')} ${where}\n${colours.bold('Task:')} ${longTask}\n\n`,
    )
  }
  let view: FoldView | undefined
  try {
    const page = await openPage(session, invocation, host, pageHint)
    const columns = (): number => columnsOf(host)
    const code = codeOf(
      await runTask(session, longTask, {
        host,
        json,
        isPriced: choice.isEmbedded,
        view: (screen, others) => (view = new FoldView(screen, { colours, clock: systemClock, columns, others })),
      }),
    )
    if (code === exitCodes.interrupted) return code
    if (!json && view !== undefined) tell(host.stdout, sayCounts(view.counts, host))
    // The check as it was: the agent could have changed it.
    writeFileSync(join(workshop.dir, projectCheckFile), project[projectCheckFile]!)
    const passes = await verify(workshop, [projectCheckFile], { host, timeoutMs: 60_000 })
    if (passes === undefined) return exitCodes.interrupted
    if (!json) tell(host.stdout, sayVerdict(passes, modules, host))
    await page.stay()
    return passes ? code : exitCodes.failed
  } finally {
    await session.close()
  }
}

async function chooseLong({ model, stay }: Invocation, host: CliHost): Promise<ModelChoice> {
  if (model !== undefined && model !== 'embedded')
    return chooseModel({ asked: model, env: host.env, dir: host.cwd(), wordDelayMs: 0 })
  return { model: longModel({ wordDelayMs: stay || host.stdout.isTTY ? wordDelayMs : 0 }), isEmbedded: true }
}

const columnsOf = ({ stdout }: CliHost): number => (stdout.isTTY && stdout.columns > 0 ? stdout.columns : 80)

/** Describes the sizes of all requests, with and without folding, and what folding saved. */
function sayCounts(counts: FoldCounts, host: CliHost): string {
  const { savings, names, folds, steps, recalls } = counts
  const sent = savings.sizes.map(({ tokens }) => tokens)
  const without = savings.sizes.flatMap((size) => (size.without === 0 ? [] : [size.without]))
  if (sent.length === 0 || without.length === 0) return ''
  const { bold, dim } = coloursFor(host.stdout, host.env, host.theme)
  const [highest, highestWithout] = [Math.max(...sent), Math.max(...without)]
  const top = Math.max(highest, highestWithout)
  const bars = (values: readonly number[]): string =>
    sparkline(values, Math.ceil(sent.length / Math.max(8, Math.min(64, columnsOf(host) - 40))), top)
  const rows: readonly (readonly [name: string, value: string])[] = [
    [
      'requests',
      `${whole(sent.length)}: ${counted(folds, 'fold')} of ${counted(steps, 'step')}, ${counted(recalls, 'recall')}`,
    ],
    ['with folding', `${bars(sent)} ${dim(`up to ${counted(highest, 'token')}`)}`],
    ['without', `${bars(without)} ${dim(`up to ${counted(highestWithout, 'token')}`)}`],
    ['saved, net', savedWords(savings)],
    ['names lost', `${names.lost} of ${whole(names.used)} used again; ${names.indexOnly} stood only in the index`],
  ]
  const lines = rows.map(([name, value]) => `  ${name.padEnd(13)} ${value}`)
  return `\n${bold('What folding did:')} ${dim('(tokens are estimates, from the log)')}\n\n${lines.join('\n')}\n`
}

function sayVerdict(passes: boolean, modules: number, host: CliHost): string {
  const { bold, green, red } = coloursFor(host.stdout, host.env, host.theme)
  const verdict = passes
    ? green(`all ${modules} modules compute what they should`)
    : red('some modules are still wrong')
  return `\n${bold('Checked once more, by running it apart from the agent:')} ${verdict}.\n`
}
