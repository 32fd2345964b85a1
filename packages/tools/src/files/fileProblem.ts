import { messageOf } from '../../../../src/protocol/errors.ts'

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'does not exist',
  ENOTDIR: 'goes through a file as if it were a folder',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be accessed: permission denied',
  EPERM: 'may not be changed: permission denied',
  EROFS: 'is on a read-only file system',
  ELOOP: 'is or leads through a symbolic link that changed or never ends',
  ENAMETOOLONG: 'is too long a name',
  ENOSPC: 'could not be written: the disk is full',
  EEXIST: 'is in the way: something of another kind has that name',
  EMFILE: 'could not be opened: too many files are open; try again',
}

/** Returns the code of a file system error, such as `ENOENT`; `undefined` for any other value. */
export const errnoOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined

/** Converts a file system error to one that explains the fault of the path to the model. Other errors are returned unchanged. */
export function fileProblem(thrown: unknown, path: string): Error {
  const reason = reasons[errnoOf(thrown) ?? '']
  if (reason !== undefined) return new Error(`path ${JSON.stringify(path)} ${reason}`, { cause: thrown })
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown))
}
