import { isStep, type RecordedSession } from '../../recordedSession.ts'
import { asText, objectOf, textOf } from '../../readers/shapes.ts'

/** Facts that the rules need and recordings do not have: whether a call failed, and whether it changed something. */
export interface Outcome {
  readonly isError: boolean
  readonly isChange: boolean
}

export type OutcomeOf = (tool: string, input: unknown, output: string) => Outcome

/** The session with the outcome of each of its calls. */
export function marked(session: RecordedSession, outcomeOf: OutcomeOf): RecordedSession {
  const turns = session.turns.map((turn) => {
    if (!isStep(turn)) return turn
    const calls = turn.content.filter((block) => block.type === 'toolCall')
    const results = turn.results.map(({ content }, index) => {
      const { name, input } = calls[index]!
      const output = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
      const { isError, isChange } = outcomeOf(name, input, output)
      return { content, isError, ...(isChange && !isError ? { changed: [name] } : {}) }
    })
    return { ...turn, results }
  })
  return { ...session, turns }
}

const failed =
  /^(?:Error\b|Usage: |Traceback |Your proposed edit has introduced|EXECUTION TIMED OUT|\S+: line \d+: |bash: )|command not found|No such file or directory/

/** Commands of the shell, and those that SWE-agent adds to it, that change files or what is installed. */
const changes =
  /(?:^|[;&|]\s*)(?:sudo\s+)?(?:edit|create|rm|mv|cp|mkdir|rmdir|touch|chmod|chown|ln|tee|tar|unzip|gunzip|sed\s+-i|pip3?\s+install|apt(?:-get)?\s+install|npm\s+install|git\s+(?:apply|checkout|reset|stash|commit))\b|(?<![0-9&>])>>?\s*(?!&|\/dev\/null)\S/

/** For shells that did not record how a command ended: told from its words. */
export const ofShell: OutcomeOf = (_, input, output) => ({
  isError: failed.test(output.trimStart()),
  isChange: changes.test(textOf(objectOf(input)['command']) || asText(input)),
})
