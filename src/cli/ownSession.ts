import type { LoadedSession } from '../sessions/loadSession.ts'

/** Name of the definition of the command line's own agent: no application is likely to take it for one of its agents. */
export const cliAgentName = 'escapement-coder'

/** What it was called before, as the agents of many applications are. */
const formerName = 'coder'

const opening = 'You are a coding agent working in the folder '
const closing = ' with tools. Look before you change anything, '

/** The instructions of the command line's agent. Sessions are recognised by them: a change must leave the old words readable, see `folderIn`. */
export const instructionsFor = (dir: string): string =>
  `${opening}${dir}${closing}make the smallest change that does the task, ` +
  `run the tests after every change, and say at the end what you changed and how you checked it. Paths are relative to the folder.`

function folderIn(instructions: string): string | undefined {
  const end = instructions.indexOf(closing)
  return instructions.startsWith(opening) && end !== -1 ? instructions.slice(opening.length, end) : undefined
}

/** A session that the command line began. */
export interface OwnSession {
  /** The folder it worked in last; `undefined` when it has not asked a model yet. */
  readonly folder: string | undefined
}

/**
 * What is known of a session that the command line began; `undefined` for that of any other agent, whatever its name. The name
 * alone proves nothing: every request of ours was captured, and says what our agent is told. Pure.
 */
export function ownSession({
  definition,
  past,
  records,
}: Pick<LoadedSession, 'definition' | 'past' | 'records'>): OwnSession | undefined {
  if (definition !== cliAgentName && definition !== formerName) return undefined
  let folder: string | undefined
  for (const record of [...past, ...records]) {
    if (record.type === 'turn.captured' && record.system !== undefined) {
      folder = folderIn(record.system)
      if (folder === undefined) return undefined
    } else if (record.type === 'reply.end' && folder === undefined) return undefined
  }
  return folder === undefined && definition === formerName ? undefined : { folder }
}
