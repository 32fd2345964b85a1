import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { z } from 'zod'
import type { UndoContext } from '../../../../src/actors/tools/defineTool.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { fileReceiptSchema, undoFile, type FileReceipt } from '../../../tools/src/workspace/fileReceipt.ts'
import { lexicalPath } from '../../../tools/src/workspace/paths.ts'
import type { Workspace } from '../../../tools/src/workspace/port.ts'

const deedSchema = lazily(() =>
  z.union([
    /** A file that the workspace wrote. */
    onlyFields({ write: fileReceiptSchema() }),
    /** An allowed action of which only the title is known. */
    onlyFields({ did: z.string() }),
  ]),
)
/** A foreign agent's action, stored before it is carried out. */
export type KeptDeed = z.output<ReturnType<typeof deedSchema>>

/**
 * Puts the files back that a foreign agent had the workspace write, each to what it was before the first of these writes. One that something else changed
 * since is left. Rejects with what was left, and with what the agent did by itself.
 */
export async function undoWrites(workspace: Workspace, kept: readonly unknown[], context: UndoContext): Promise<void> {
  const deeds = z.array(deedSchema()).parse(kept)
  const use = {
    of: () => workspace,
    spell: (path: string, of: 'file' | 'folder') => workspace.spell?.(path, of) ?? lexicalPath(workspace.root, path),
  }
  const byPath = new Map<string, FileReceipt[]>()
  for (const deed of deeds.toReversed())
    if ('write' in deed) byPath.set(deed.write.path, [...(byPath.get(deed.write.path) ?? []), deed.write])
  const left: string[] = []
  for (const [path, [receipt, ...earlier]] of byPath)
    try {
      await undoFile(use, { ...context, receipt: receipt!, earlier })
    } catch (thrown) {
      context.signal.throwIfAborted()
      left.push(`${path}: ${messageOf(thrown)}`)
    }
  const did = deeds.flatMap((deed) => ('did' in deed ? [deed.did] : []))
  if (left.length + did.length === 0) return
  const back = byPath.size - left.length
  throw new Error(
    [
      ...(back === 0 ? [] : [`${back === 1 ? '1 file was' : `${back} files were`} put back`]),
      ...left,
      ...(did.length === 0 ? [] : [`what it did by itself stays: ${did.join(', ')}`]),
    ].join('; '),
  )
}
