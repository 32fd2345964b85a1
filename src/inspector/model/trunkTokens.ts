import type { Session } from '../../sessions/session.ts'

/** As many points as a small picture can show. */
const mostPoints = 240

/** Tokens the model read in each turn that has an answer, oldest first; of a long life evenly chosen ones. Pure. */
export function trunkTokens(session: Session): number[] {
  const turns = session.runs.flatMap((run) => run.turns).filter(({ reply }) => reply !== undefined)
  const step = Math.max(1, turns.length / mostPoints)
  const chosen: number[] = []
  for (let at = 0; at < turns.length; at += step) {
    const { input, cacheRead, cacheWrite } = turns[Math.floor(at)]!.usage
    chosen.push(input + cacheRead + cacheWrite)
  }
  return chosen
}
