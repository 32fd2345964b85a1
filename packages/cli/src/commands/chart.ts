import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { AnyStateMachine } from 'xstate'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { agentMachine } from '../../../../src/machines/agentMachine.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import {
  chart,
  chartDetails,
  chartDirections,
  chartFormats,
  type ChartFormat,
  type ChartSubject,
} from '../../../charts/src/chart.ts'
import { checkChoice } from '../../../../src/protocol/checks/checkChoice.ts'
import { actorSequence, people, type ActorSequence, type SequenceLog } from '../../../charts/src/actorSequence.ts'
import { sequenceMermaid, sequenceSvg } from '../../../charts/src/sequencePictures.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { readHistory } from '../../../../src/log/readHistory.ts'
import { checkSession, logsFor } from '../sessions/sessionLogs.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import { definitionsFor } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'

/** `escapement chart [module]`: draws the statechart of an agent that a module exports, or of any agent. */
export const chartCommand: CommandRun = async (invocation, host) => {
  if (invocation.actors) return drawActors(invocation, host)
  const { task, id, format, detail, direction, out } = invocation
  const options = {
    format: format === undefined ? formatOf(out) : checkChoice('--format', format, chartFormats),
    detail: detail === undefined ? undefined : checkChoice('--detail', detail, chartDetails),
    direction: checkChoice('--direction', direction ?? 'down', chartDirections),
  }
  const subject =
    task === undefined && id === undefined ? everyAgent : choose(await definitionsOf(invocation, host), id)
  const drawn = await chart<ChartFormat>(subject, options)
  const text = typeof drawn === 'string' ? drawn : `${JSON.stringify(drawn, null, 2)}\n`
  if (out === undefined) host.stdout.write(text)
  else await writeChart(out, text)
  return exitCodes.done
}

/** Draws the calls between a session's agents, from its own log and the available logs below it. */
async function drawActors(invocation: Invocation, host: CliHost): Promise<number> {
  const { task: id, format, out, detail, direction } = invocation
  if (id === undefined) throw new RuntimeError('INVALID_OPTION', 'chart --actors takes the id of a session.')
  if (detail !== undefined || direction !== undefined || invocation.id !== undefined)
    throw new RuntimeError('INVALID_OPTION', '--actors goes with --format and --out: leave the others out.')
  const chosen = format === undefined ? formatOf(out) : checkChoice('--format', format, chartFormats)
  const logs = await logsFor(invocation, host)
  await checkSession(logs, id)
  const sequence = await readSequence(logs.store, id)
  const drawn = {
    mermaid: () => sequenceMermaid(sequence),
    svg: () => sequenceSvg(sequence, id),
    json: () => `${JSON.stringify(sequence, null, 2)}\n`,
  }[chosen]()
  if (out === undefined) host.stdout.write(drawn)
  else await writeChart(out, drawn)
  return exitCodes.done
}

/**
 * Reads the logs of an agent and of all agents below it. A missing or unreadable log is left out, except that of the root,
 * which is required.
 */
async function readSequence(store: Store, rootId: string): Promise<ActorSequence> {
  const read = async (agentId: string): Promise<SequenceLog> => ({
    agentId,
    records: (await readHistory(store, agentId)).records,
  })
  const root = await read(rootId)
  const others: SequenceLog[] = []
  const known = new Set([rootId, people])
  const below = (log: SequenceLog): string[] => actorSequence(log).lanes.map(({ id }) => id)
  const wanted = below(root)
  for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
    if (known.has(next)) continue
    known.add(next)
    try {
      const log = await read(next)
      others.push(log)
      wanted.push(...below(log))
    } catch {
      // Incognito, deleted, or damaged: its caller's log says what it can.
    }
  }
  return actorSequence(root, others)
}

function formatOf(out: Invocation['out']): ChartFormat {
  const ending = out === undefined ? '' : extname(out).slice(1)
  return chartFormats.find((format) => format === ending) ?? 'mermaid'
}

const everyAgent: ChartSubject = agentMachine as AnyStateMachine

/** Returns the definitions of the module, or else of the configuration. */
const definitionsOf = async (invocation: Invocation, host: CliHost): Promise<readonly AgentDefinition[]> =>
  definitionsFor(invocation, await loadConfig(invocation, host), host)

function choose(definitions: readonly AgentDefinition[], id: string | undefined): AgentDefinition {
  const names = definitions.map(({ name }) => name)
  const chosen = id === undefined && definitions.length === 1 ? definitions[0] : definitions[names.indexOf(id ?? '')]
  if (chosen !== undefined) return chosen
  if (id === undefined) {
    const what = `The module exports ${definitions.length} agents: ${names.join(', ')}. Say which with --id.`
    throw new RuntimeError('INVALID_OPTION', what)
  }
  const meant = nearestWord(id, names)
  const hint = meant === undefined ? `There are: ${names.join(', ')}.` : `Did you mean ${meant}?`
  throw new RuntimeError('INVALID_OPTION', `The module exports no agent "${id}". ${hint}`)
}

/** Writes a picture, replacing an existing one. */
async function writeChart(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((thrown: unknown) => {
    throw new RuntimeError('INVALID_OPTION', `--out ${file} cannot be written: ${messageOf(thrown)}.`, {
      cause: thrown,
    })
  })
}
