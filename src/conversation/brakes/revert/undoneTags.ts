import type { RecordOf } from '../../../protocol/records.ts'
import type { Annotations, Tagged } from '../../tree/annotations.ts'
import { corrupt } from '../../../log/fold.ts'
import { factsBehind } from '../../tree/facts.ts'
import type { ConversationTree } from '../../tree/conversationTree.ts'
import type { ConversationNode } from '../../tree/node.ts'

/** Marks the results of undone calls, and the tag of the revert, with the outcome of undoing the calls of the last revert. */
export class UndoneTags {
  readonly #tree: Pick<ConversationTree, 'node'>
  /** Id and tag of the revert that is being undone. */
  #open: { readonly id: string; readonly tagged: Tagged } | undefined

  constructor(tree: Pick<ConversationTree, 'node'>) {
    this.#tree = tree
  }

  begin({ id, undo }: RecordOf<'revert.applied'>, tagged: Tagged): void {
    this.#open = undo === undefined ? undefined : { id, tagged }
  }

  /** Restores an undoing that had begun when the conversation was stored. */
  resume(id: string, tagged: Tagged): void {
    this.#open = { id, tagged }
  }

  /** Returns the id of the revert that is being undone, and the place of its tag. */
  keep(all: readonly Tagged[]): { readonly id: string; readonly tagged: number } | undefined {
    return this.#open && { id: this.#open.id, tagged: all.indexOf(this.#open.tagged) }
  }

  /** Drops the undoing, which stays with the source of a fork. */
  drop(): void {
    this.#open = undefined
  }

  /** Marks the result of a call that was undone. Returns the fault if the record does not follow from the log. */
  step({ id, call, undone }: RecordOf<'undo.step'>): string | undefined {
    const node = this.#tree.node(call)
    if (this.#open?.id !== id) return 'it is of no revert'
    if (node?.reversible === undefined) return 'it is about something that no tool could undo'
    if (undone) Object.assign(node, { reversible: { ...node.reversible, isUndone: true } })
    return undefined
  }

  /** Puts the ledger on the tag, replacing the earlier one. Returns the node of the tag. @throws RuntimeError `LOG_CORRUPT` */
  end(record: RecordOf<'undo.end'>, { tagged: all }: Annotations): ConversationNode {
    const { id, undone, kept } = record
    if (this.#open?.id !== id) throw corrupt(record, 'it is of no revert')
    const { tagged } = this.#open
    this.#open = undefined
    const { nodeId, tag: before, isShown } = tagged
    const tag = { ...before, undo: { undone, kept } }
    const target = this.#tree.node(nodeId)!
    Object.assign(target, { tags: target.tags.map((one) => (one === before ? tag : one)) })
    const facts = factsBehind(tag.abandoned, (each) => this.#tree.node(each))
    all[all.indexOf(tagged)] = { nodeId, tag, facts, ...(isShown === undefined ? {} : { isShown }) }
    return target
  }
}
