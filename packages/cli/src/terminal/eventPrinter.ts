import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'
import { isRemembered } from '../../../../src/protocol/remembered.ts'
import type { AgentEvent, EventOf } from '../../../../src/protocol/events.ts'
import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Economics } from '../../../../src/protocol/economics.ts'
import { formatNodeId } from '../../../../src/protocol/ids.ts'
import { textOf, totalTokens } from '../../../../src/protocol/messages.ts'
import { byPolicy, counted, dollars, duration, money, savings, tookWords, whole } from '../../../charts/src/amounts.ts'
import { linesAbout } from '../../../words/src/parts/partLines.ts'
import { brakeLines } from '../../../words/src/brakes/brakeLines.ts'
import type { Colours } from './colours.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { diffCounts, diffRows } from './diffRows.ts'
import type { Screen } from './screen.ts'
import { editOf, type FileEdit } from '../../../charts/src/text/edits.ts'
import { replyPrinter, type ReplyPrinter } from './reply/replyPrinter.ts'
import { callLine, outcomeLine } from '../../../charts/src/toolLine.ts'
import { WorkTimes, type Took } from '../../../charts/src/workTimes.ts'

export interface PrinterOptions {
  readonly screen: Screen
  readonly colours: Colours
  /** True if costs are known, for the last line of a run. */
  readonly isPriced: boolean
  /** True if the terminal supports links. Default: false. */
  readonly hasLinks?: boolean
  /** True if the terminal is dumb, so that replies are printed unchanged. Default: false. */
  readonly isDumb?: boolean
  /** Instruction for resuming, in place of the `agent.resume()` that error messages advise. Default: that call. */
  readonly resume?: string
  /** Appended to the last line of every run. */
  readonly footer?: string
  /** Returns true if calls that need an approval are shown here before they run, so that their changes are not shown again. */
  isAsking?(): boolean
}

/** Maximum number of lines shown of a completed change. */
const mostChanged = 12
const usualColumns = 80
/** Duration in milliseconds from which the end of a run rings the bell, as a person may be looking elsewhere. */
const longRunMs = 10_000

type Printers = { readonly [T in AgentEvent['type']]?: (event: EventOf<T>) => void }

/**
 * Creates a function that prints an agent's events for people: text as it streams, one line per tool call, and one per run. Replies are laid out
 * as Markdown where a screen can redraw rows, even without colours; elsewhere they are printed unchanged.
 */
export function eventPrinter(options: PrinterOptions): (event: AgentEvent) => void {
  const { screen, colours, isDumb = false } = options
  const calls = new Map<string, { readonly line: string; readonly edit?: FileEdit }>()
  /** Calls whose change was shown before they ran. */
  const seen = new Set<string>()
  const times = new WorkTimes()
  let took: Took | undefined
  /** Names of policies that planned reverts, by request id. */
  const planned = new Map<string, string>()
  /** The last printed failure message. */
  let failure: string | undefined
  /** Number of characters of the reply's text printed so far. */
  let shown = 0
  const endLine = (): void => {
    if (!screen.isAtLineStart) screen.write('\n')
  }
  const reply = screen.grow !== undefined && !isDumb ? markdownPrinter(options) : plainPrinter(screen)
  const line = (text: string): void => {
    endLine()
    screen.write(`${text}\n`)
  }
  const telling = { saved }
  const brakePrinters = Object.entries(brakeLines.terminal).map(([type, told]) => [
    type,
    (event: Parameters<typeof told>[0]): void => {
      const { done, refused } = told(event, telling)
      if (done !== undefined) line(colours.dim(`  ${done}`))
      if (refused !== undefined) line(colours.yellow(`  ${withoutControls(refused)}`))
    },
  ])
  const printers: Printers = {
    'message.added': ({ message: { provenance } }) => {
      if (isRemembered(provenance))
        line(colours.dim(withoutControls(`  ⇠ from memory (${provenance.tier}, ${provenance.recordId})`)))
      if (provenance?.type === 'report')
        line(colours.dim(withoutControls(`  ⇠ ${provenance.name} (${provenance.agentId}) has reported`)))
    },
    'reply.start': () => {
      reply.end()
      shown = 0
    },
    'reply.delta': ({ text, offset }) => {
      shown = offset + text.length
      reply.add(text)
    },
    'reply.end': ({ message, withheld }) => {
      const text = textOf(message.content)
      // Text that arrived while disconnected; of one that was withheld nothing continues what is shown.
      if (withheld === undefined || shown === 0) reply.add(text.slice(shown))
      reply.end()
      if (withheld !== undefined && shown > 0) line(withoutControls(text))
      shown = 0
      endLine()
    },
    'reply.reset': ({ error, repair, retryAt, time, next }) => {
      reply.end()
      shown = 0
      const again =
        retryAt === undefined
          ? repair === undefined
            ? next === undefined
              ? ''
              : ` Asking ${next} instead.`
            : ' Asking again.'
          : ` Trying again in ${duration(retryAt - time)}.`
      failure = errorWords(error, options)
      line(colours.yellow(withoutControls(`! ${failure}${again}`)))
    },
    'approval.requested': ({ key, name, input }) => {
      calls.set(key, { line: callLine(name, input) })
      if (options.isAsking?.() === true) seen.add(key)
    },
    'approval.decided': ({ key, input }) => {
      // It is not what was shown.
      if (input !== undefined) seen.delete(key)
    },
    'tool.start': ({ key, name, input }) => {
      const edit = screen.columns === undefined ? undefined : editOf(name, input)
      calls.set(key, { line: callLine(name, input), ...(edit === undefined ? {} : { edit }) })
    },
    'tool.end': (event) => {
      const call = calls.get(event.key)
      const isSeen = seen.delete(event.key)
      calls.delete(event.key)
      const edit = event.message.isError ? undefined : call?.edit
      const columns = (screen.columns ?? usualColumns) - 1
      const mark = event.message.isError ? colours.red('✗') : colours.green('✓')
      const time = took === undefined ? '' : ` · ${tookWords(took)}`
      const counts = edit === undefined ? '' : ` · ${diffCounts(edit.diff)}`
      line(
        `  ${mark} ${call?.line ?? withoutControls(event.name)} ${colours.dim(`· ${outcomeLine(event)}${counts}${time}`)}`,
      )
      if (edit !== undefined && !isSeen && edit.diff.hunks.length > 0)
        line(diffRows(edit.diff, { colours, indent: '    ', most: mostChanged, columns }).join('\n'))
      if (event.handoff !== undefined) line(colours.yellow(`  ⇒ ${withoutControls(event.handoff)} answers from now on`))
    },
    'compaction.end': ({ applied, requestId, reason = '', tokensBefore, tokensAfter, economics }) => {
      const what = `compacted: ${whole(tokensBefore)} → ${whole(tokensAfter)} tokens`
      if (applied) line(colours.dim(`  ${what}${saved(economics)}`))
      else if (requestId !== undefined) line(colours.yellow(`  not compacted: ${withoutControls(reason)}`))
    },
    'pin.applied': ({ applied, requested, pinned, reason = '' }) =>
      line(
        applied
          ? colours.dim(`  ${requested} ${pinned ? 'pinned' : 'unpinned'}`)
          : colours.yellow(`  ${withoutControls(reason)}`),
      ),
    'revert.requested': ({ request: { id, policy } }) => void (policy !== undefined && planned.set(id, policy)),
    'revert.applied': (event) =>
      line(colours.yellow(`  ↩ ${withoutControls(revertLine(event, planned.get(event.id)))}`)),
    ...(Object.fromEntries(brakePrinters) as Printers),
    'undo.end': ({ undone, kept }) => {
      if (undone.length > 0) line(colours.dim(`  undone: ${withoutControls(undone.join(', '))}`))
      for (const { what, why } of kept) line(colours.yellow(`  not undone: ${withoutControls(`${what} (${why})`)}`))
      if (undone.length + kept.length === 0) line(colours.dim('  no change had to be undone'))
    },
    'prune.applied': (event) => {
      if (event.applied) line(colours.dim(`  ${pruneLine(event)}`))
      if (event.reason !== undefined) line(colours.yellow(`  ${withoutControls(event.reason)}`))
    },
    'stall.detected': ({ evidence, rung }) =>
      line(colours.yellow(`  ↻ in circles: ${withoutControls(evidence)}${rungWords[rung]}`)),
    'policy.end': (event) => {
      const { outcome, requestId } = event
      if (outcome === 'failed') line(colours.yellow(`  ${policyLine(event)}`))
      else if (outcome === 'planned' || requestId !== undefined) line(colours.dim(`  ${policyLine(event)}`))
    },
    'source.status': ({ source, trouble }) => {
      if (trouble !== undefined) line(colours.yellow(withoutControls(`! tools of ${source}: ${trouble}`)))
    },
    'model.warning': ({ model, message }) => line(colours.yellow(`! ${withoutControls(`${model}: ${message}`)}`)),
    error: ({ error }) => {
      failure = errorWords(error, options)
      line(colours.red(withoutControls(`! ${failure}`)))
    },
    'run.end': (event) => {
      reply.end()
      line(runLine(event, { ...options, took, failure }))
      failure = undefined
      if (took !== undefined && took.ms + took.waitedMs >= longRunMs) screen.ring?.()
    },
  }
  return (event) => {
    took = times.take(event)
    for (const { text, tone } of linesAbout(event)?.terminal?.(event, told) ?? [])
      line((tone === 'warn' ? colours.yellow : colours.dim)(`  ${withoutControls(text)}`))
    ;(printers[event.type] as ((event: AgentEvent) => void) | undefined)?.(event)
  }
}

const plainPrinter = (screen: Screen): ReplyPrinter => ({
  add: (text) => screen.write(withoutControls(text)),
  end() {},
})

const markdownPrinter = ({ screen, colours, hasLinks = false }: PrinterOptions): ReplyPrinter =>
  replyPrinter({ columns: () => screen.columns, grow: (...args) => screen.grow?.(...args) }, { colours, hasLinks })

const told = { counted, short: (text: string): string => oneLine(text, 120) }

const rungWords: Readonly<Record<EventOf<'stall.detected'>['rung'], string>> = {
  note: ' · the model is told',
  revert: ' · it is taken back',
  pause: ' · it is paused',
  none: '',
}

interface RunLineOptions extends PrinterOptions {
  /** Absent if the run's start was not seen. */
  readonly took: Took | undefined
  /** The last printed failure, which is not printed again. */
  readonly failure: string | undefined
}

function runLine(end: EventOf<'run.end'>, options: RunLineOptions): string {
  const { colours, isPriced, footer, took } = options
  const { turns, usage, costUsd } = end
  const facts = [
    counted(turns, 'turn'),
    `${whole(totalTokens(usage))} tokens`,
    isPriced || costUsd > 0 ? dollars(costUsd) : `cost ${money(0)}`,
    ...(took === undefined ? [] : [tookWords(took)]),
    ...(footer === undefined ? [] : [footer]),
  ].join(' · ')
  const mark =
    end.stopReason === 'stop' ? colours.green('✓ done') : colours.red(`✗ ${withoutControls(endingOf(end, options))}`)
  return `${mark} ${colours.dim(`· ${facts}`)}`
}

const saved = (economics: Economics | undefined): string => (economics === undefined ? '' : ` · ${savings(economics)}`)

const pruneWord = ({ by, masked, shown }: EventOf<'prune.applied'>): string => {
  if (shown === true) return 'shown again'
  return masked === true ? 'output hidden' : by === 'runtime' ? 'folded' : 'hidden'
}

const pruneLine = (event: EventOf<'prune.applied'>): string =>
  `${pruneWord(event)}: ${counted(event.steps.length, 'step')}${byPolicy(event.policy)}${saved(event.economics)}`

const policyWords = { planned: 'has a plan', nothing: 'changes nothing', failed: 'failed' } as const

function policyLine({ policy, outcome, reason, usage, costUsd }: EventOf<'policy.end'>): string {
  const why = reason === undefined ? '' : `: ${reason}`
  const cost = costUsd === 0 ? '' : `, ${dollars(costUsd)}`
  const asking = usage === undefined ? '' : ` · asking took ${counted(totalTokens(usage), 'token')}${cost}`
  return withoutControls(`policy ${policy} ${policyWords[outcome]}${why}${asking}`)
}

function revertLine(event: EventOf<'revert.applied'>, policy: string | undefined): string {
  const { applied, requested, reason = '', target, tag, category, economics } = event
  if (!applied || target === undefined || tag === undefined) return `not back to ${requested}: ${reason}`
  const [first, last] = [tag.abandoned[0], tag.abandoned.at(-1)].map((id) => (id === undefined ? '' : formatNodeId(id)))
  const aside = first === last ? first : `${first}–${last}`
  return `back to ${formatNodeId(target)} (${category})${byPolicy(policy)}: ${aside} set aside${saved(economics)}`
}

const errorWords = ({ message, code }: ErrorInfo, { resume }: Pick<PrinterOptions, 'resume'>): string =>
  `${resume === undefined ? message : resumedBy(message, resume)} (${code})`

/** Returns a failure message with the person's way to resume an agent in place of the code's. Pure. */
export const resumedBy = (message: string, resume: string): string => message.replaceAll('agent.resume()', resume)

/** Returns the reason why a run ended before it was done. */
function endingOf({ stopReason, reason, error, refusal }: EventOf<'run.end'>, options: RunLineOptions): string {
  if (error !== undefined) {
    const words = errorWords(error, options)
    return words === options.failure ? 'failed' : `failed: ${words}`
  }
  if (stopReason === 'paused' && reason?.type === 'limit')
    return `paused: the limit of ${whole(reason.allowed)} ${reason.limit} is reached`
  if (reason?.type === 'stall') return `paused: it went in circles: ${reason.evidence}`
  if (refusal !== undefined) return `refused by ${refusal.guard}: ${refusal.reason}`
  return stopReason === 'refusal' ? 'not done' : stopReason === 'length' ? 'cut off by the length limit' : stopReason
}
