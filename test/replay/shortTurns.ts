import { isStep, type RecordedSession, type RecordedTurn } from '../../tools/bench/replay/recordedSession.ts'

/** Lines of JSON. */
export const jsonl = (...lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** A turn in short: `user: …`, or `words → call(arguments) = result`. */
function short(turn: RecordedTurn): string {
  const words = turn.content.map((block) => {
    if (block.type === 'text') return block.text
    return block.type === 'toolCall' ? `${block.callId}:${block.name}(${JSON.stringify(block.input)})` : block.type
  })
  if (!isStep(turn)) return `user: ${words.join(' | ')}`
  const results = turn.results.map(
    ({ content, isError }) =>
      `${isError ? '!' : ''}${content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' | ')}`,
  )
  return `${words.join(' → ')}${results.length === 0 ? '' : ` = ${results.join(' & ')}`}`
}

/** The turns of a session in short. */
export const turnsOf = ({ turns }: RecordedSession): string[] => turns.map(short)
