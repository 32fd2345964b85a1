import { namesIn, namesOf } from '../measure/names.ts'
import { tokensOf } from '../measure/tokens.ts'
import { isStep, type RecordedSession, type RecordedTurn, type StepTurn } from '../recordedSession.ts'

/** Neighbouring steps `from` … `to` (turns) of which, as hindsight shows, nothing was used. */
export interface DeadEnd {
  readonly from: number
  readonly to: number
  readonly tokens: number
}

/** Calls that change something have such words in their name or command. */
const changing =
  /edit|write|create|insert|replace|patch|delete|remove|rename|commit|\b(rm|mv|cp|mkdir|sed -i|git (add|commit|push|checkout|stash))\b|>{1,2}\s*[\w./]/i

/** Tokens of all that was said, called and answered in a turn. */
export const sizeOf = (turn: RecordedTurn): number =>
  [...turn.content, ...(isStep(turn) ? turn.results.flatMap(({ content }) => content) : [])].reduce(
    (sum, block) => sum + tokensOf(block),
    0,
  )

/**
 * Dead ends by hindsight: at least two neighbouring steps with calls, none of which changed anything (each failed, or only looked), and
 * whose news (names first met in their results) the agent never wrote afterwards. Only those of `minTokens` or more, as a revert of
 * less does not pay.
 */
export function deadEnds({ turns }: RecordedSession, minTokens = 1_500): DeadEnd[] {
  const lastWritten = new Map<string, number>()
  turns.forEach((turn, at) => {
    if (isStep(turn)) for (const name of namesOf(turn.content)) lastWritten.set(name, at)
  })
  const met = new Set<string>()
  const lastUse = turns.map((turn): number => {
    if (!isStep(turn)) {
      for (const name of namesOf(turn.content)) met.add(name)
      return Infinity
    }
    const news = newsOf(turn, met)
    return hasChanged(turn) ? Infinity : news.reduce((last, name) => Math.max(last, lastWritten.get(name) ?? 0), 0)
  })
  const found: DeadEnd[] = []
  for (let from = 0; from < turns.length; from += 1) {
    // A span is dead if what is new in it was last used within it.
    let end = from
    let used = 0
    let to = from
    while (end < turns.length && lastUse[end]! < Infinity) {
      used = Math.max(used, lastUse[end]!)
      end += 1
      if (used < end) to = end
    }
    // A reply must follow, before which the model can revert: not past what a person said.
    if (turns[to]?.type !== 'step') to -= 1
    const tokens = turns.slice(from, to).reduce((sum, turn) => sum + sizeOf(turn), 0)
    if (to - from < 2 || tokens < minTokens) continue
    found.push({ from, to: to - 1, tokens })
    from = to - 1
  }
  return found
}

function newsOf({ content, results }: StepTurn, met: Set<string>): string[] {
  for (const name of namesOf(content)) met.add(name)
  const seen = results.flatMap((result) =>
    result.content.flatMap((block) => (block.type === 'text' ? namesIn(block.text) : [])),
  )
  const news = seen.filter((name) => !met.has(name))
  for (const name of seen) met.add(name)
  return news
}

/** Tells whether a step did more than look: it has a successful call that changes something, or an answer to a person. */
function hasChanged({ content, results }: StepTurn): boolean {
  const calls = content.filter((block) => block.type === 'toolCall')
  if (calls.length === 0) return true
  return calls.some(
    ({ name, input }, index) => !results[index]!.isError && (changing.test(name) || changing.test(commandOf(input))),
  )
}

const commandOf = (input: unknown): string => {
  const { command } = input as { readonly command?: unknown }
  return typeof command === 'string' ? command : ''
}
