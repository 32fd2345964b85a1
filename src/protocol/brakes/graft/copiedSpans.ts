import type { NodeId } from '../../ids.ts'
import { formatNodeId } from '../../text/nodeIds.ts'
import type { GraftOutcome } from './graftRecords.ts'

/** Describes the nodes that a graft copied and their copies: `n12–n14 as n30–n32, n20 as n33`. */
export function copiedSpans(copies: GraftOutcome['copies']): string {
  const spans: { from: NodeId; to: NodeId; first: NodeId; last: NodeId }[] = []
  for (const { nodeId, from } of copies) {
    const span = spans.at(-1)
    if (span !== undefined && from === span.to + 1) Object.assign(span, { to: from, last: nodeId })
    else spans.push({ from, to: from, first: nodeId, last: nodeId })
  }
  return spans.map(({ from, to, first, last }) => `${range(from, to)} as ${range(first, last)}`).join(', ')
}

const range = (from: NodeId, to: NodeId): string =>
  from === to ? formatNodeId(from) : `${formatNodeId(from)}–${formatNodeId(to)}`
