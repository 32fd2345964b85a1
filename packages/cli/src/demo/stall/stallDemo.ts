import { tell } from '../../terminal/wordWrap.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrakingOptions } from '../../../../../src/actors/define/brakingOptions.ts'
import { counted } from '../../../../charts/src/amounts.ts'
import { withoutControls } from '../../../../charts/src/plainText.ts'
import { formatNodeId } from '../../../../../src/protocol/ids.ts'
import type { EventOf } from '../../../../../src/protocol/events.ts'
import type { Agent } from '../../../../../src/runtime/agents/agent.ts'
import { type CliHost, exitCodes } from '../../cliHost.ts'
import type { Invocation } from '../../commandLine.ts'
import { chooseModel, type ModelChoice } from '../../models/chooseModel.ts'
import { openSession } from '../../sessions/openSession.ts'
import { codeOf, runTask } from '../../chat/runTask.ts'
import { columnsOf } from '../../sessions/sessionLogs.ts'
import { coloursFor } from '../../terminal/colours.ts'
import { conversationTree } from '../../chat/conversationTree.ts'
import { openPage } from '../demoPage.ts'
import { verify } from '../verify.ts'
import { openWorkshop, type Workshop } from '../workshop.ts'
import { checkFile, checkProgram, lockedProject, lockFile, unlockCommand, buildFile } from './lockedProject.ts'
import { buildTask, stallModel } from './stallPolicy.ts'
import { execFile } from 'node:child_process'
import { defineTool } from '../../../../schemas/src/defineTool.ts'
import type { Tool } from '../../../../../src/actors/tools/defineTool.ts'

/**
 * Returns the tool that builds the project. It declares that repeating a build is harmless, so its steps may be reverted; `run_command` cannot
 * declare this for every command.
 */
const buildTool = ({ dir, env }: Pick<Workshop, 'dir' | 'env'>): Tool =>
  defineTool({
    name: 'build',
    description: 'Builds the project.',
    input: { jsonSchema: { type: 'object', properties: {}, additionalProperties: false } },
    effects: 'idempotent',
    run: (_, { signal, changed }) =>
      new Promise((resolve, reject) => {
        const options = { cwd: dir, env: { ...process.env, ...env }, signal }
        execFile(process.execPath, [buildFile], options, (error, stdout, stderr) => {
          if (error !== null) return reject(new Error(stderr.trim() === '' ? error.message : stderr.trim()))
          changed('dist/prices.json')
          resolve(stdout)
        })
      }),
  })

const wordDelayMs = 18
const maxTurns = 30

const why = `A build that died has left ${lockFile}. The model takes it for one that still runs, and waits.`

const pageHint = 'There the conversation shows the loop beside the trunk, with the note and the lesson.'

/**
 * `escapement demo stall`: the agent waits repeatedly for a lock that no process holds, until the runtime detects the loop, warns it and reverts its
 * attempts, and it finds another way. Its work is then checked. Needs no key. `braking`: shows the outcome without brakes.
 */
export async function runStallDemo(
  invocation: Invocation,
  host: CliHost,
  braking: BrakingOptions = { stall: true },
): Promise<number> {
  const { json, yes } = invocation
  const choice = await chooseBuilder(invocation, host)
  const workshop = openWorkshop(lockedProject())
  const session = await openSession({
    ...workshop,
    choice,
    braking,
    tools: [buildTool(workshop)],
    needsApproval: (command) => !yes && command !== unlockCommand,
    limits: { turns: maxTurns },
  })
  const noticed = watchStalls(session.agent)
  const { bold, dim } = coloursFor(host.stdout, host.env, host.theme)
  if (!json) {
    const where = dim(`The folder is ${workshop.dir}; the model is ${choice.model.id}.`)
    tell(host.stdout, `${bold('A task that invites a loop.')} ${where}\n${dim(why)}\n${bold('Task:')} ${buildTask}\n\n`)
  }
  try {
    const page = await openPage(session, invocation, host, pageHint)
    const code = codeOf(await runTask(session, buildTask, { host, json, isPriced: choice.isEmbedded }))
    if (code === exitCodes.interrupted) return code
    if (!json) tell(host.stdout, sayNoticed(session.agent, noticed, host))
    // The check as it was: the agent could have changed it.
    writeFileSync(join(workshop.dir, checkFile), checkProgram)
    const passes = await verify(workshop, [checkFile], { host, timeoutMs: 60_000 })
    if (passes === undefined) return exitCodes.interrupted
    if (!json) tell(host.stdout, sayVerdict(passes, host))
    await page.stay()
    return passes ? code : exitCodes.failed
  } finally {
    await session.close()
  }
}

async function chooseBuilder({ model, stay }: Invocation, host: CliHost): Promise<ModelChoice> {
  if (model !== undefined && model !== 'embedded')
    return chooseModel({ asked: model, env: host.env, dir: host.cwd(), wordDelayMs: 0 })
  return { model: stallModel({ wordDelayMs: stay || host.stdout.isTTY ? wordDelayMs : 0 }), isEmbedded: true }
}

interface Noticed {
  readonly stalls: EventOf<'stall.detected'>[]
  requests: number
}

/** Records every loop detected from now on, and counts requests. */
function watchStalls(agent: Agent): Noticed {
  const noticed: Noticed = { stalls: [], requests: 0 }
  agent.subscribe((event) => {
    if (event.type === 'stall.detected') noticed.stalls.push(event)
    if (event.type === 'turn.request') noticed.requests += 1
  })
  return noticed
}

/** Describes the runtime's response to the loop, and the current conversation. */
function sayNoticed({ conversation }: Agent, { stalls, requests }: Noticed, host: CliHost): string {
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const done = stalls.map((stall) => `  ${stall.steps.length} equal steps: ${doneAbout(stall)}\n`)
  const [heading, treeOf] =
    stalls.length === 0
      ? ['Nobody looked for loops, or there was none.\n', 'The conversation:']
      : [
          `${colours.bold('What the runtime did about it:')}\n\n${done.join('')}`,
          'The conversation, with what was taken back:',
        ]
  const columns = host.stdout.isTTY && host.stdout.columns > 0 ? columnsOf(host) - 2 : Infinity
  const tree = conversationTree(conversation, colours, columns).map((line) => `  ${line}\n`)
  const spent = `  ${requests} of at most ${counted(maxTurns, 'request')}\n`
  return `\n${heading}${spent}\n${colours.bold(treeOf)}\n\n${tree.join('')}`
}

function doneAbout({ rung, note = '', target, evidence }: EventOf<'stall.detected'>): string {
  switch (rung) {
    case 'note':
      return `the model is told: ${withoutControls(note)}`
    case 'revert':
      return `it is taken back to ${formatNodeId(target)}, the step before the loop, with a lesson: ${withoutControls(evidence)}`
    case 'pause':
      return 'the run is paused'
    case 'none':
      return 'nothing is done'
  }
}

function sayVerdict(passes: boolean, host: CliHost): string {
  const { bold, dim, green, red } = coloursFor(host.stdout, host.env, host.theme)
  const verdict = passes ? green('dist/prices.json is built') : red('dist/prices.json is not built')
  const start = host.env['npm_lifecycle_event'] === 'start' ? 'npm start --' : 'escapement demo'
  const next = `Next: an agent that gives up a dead end by itself: ${start} sort. For your own agents: "Turn the brakes on" in escapement/docs/quickStart.md.`
  return `\n${bold('Checked once more, apart from the agent:')} ${verdict}.\n\n${dim(next)}\n`
}
