import type { LoadedSession } from '../../../sessions/src/loadSession.ts'

/** Definition name of the command line's own agent, unlikely to be used by an application. */
export const cliAgentName = 'escapement-coder'

/** Former name of that definition, which applications use too. */
const formerName = 'coder'

const opening = 'You are a coding agent working in the folder '
const closing = ' with tools. Look before you change anything, '

/** Returns the instructions of the command line's agent. They identify its sessions, so `folderIn` must still recognize old wordings. */
export const instructionsFor = (dir: string): string =>
  `${opening}${dir}${closing}make the smallest change that does the task, ` +
  `run the tests after every change, and say at the end what you changed and how you checked it. Paths are relative to the folder.`

function folderIn(instructions: string): string | undefined {
  const end = instructions.indexOf(closing)
  return instructions.startsWith(opening) && end !== -1 ? instructions.slice(opening.length, end) : undefined
}

/** A session of the command line's own agent. */
export interface OwnSession {
  /** The folder it last worked in; `undefined` if it has not called a model yet. */
  readonly folder: string | undefined
}

/**
 * Recognises a session of the command line's own agent; `undefined` for any other, whatever its name. The name alone is no proof, so
 * the instructions in its captured requests decide. Pure.
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
