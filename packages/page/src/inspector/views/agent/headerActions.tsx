import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'

/** A dialog about the agent that is shown, or about one of its messages. */
export type AgentDialog =
  | 'compact'
  | 'compare'
  | 'export'
  | 'policy'
  | 'share'
  | 'stop'
  | { readonly fork: NodeId }
  | { readonly prune: NodeId }
  | { readonly revert: NodeId }

export interface HeaderActionsProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onOpen: (dialog: AgentDialog) => void
}

/** Actions on the agent that is shown. */
export function HeaderActions({ inspector, view, onOpen }: HeaderActionsProps) {
  const { isRunning, policies, at, conversation, created, status } = view.state.value
  const source = created?.forkedFrom
  const { head } = conversation
  const { controls, choices, isTimeOpen } = inspector
  const isTimeShown = isTimeOpen.value ?? (!isRunning || at !== null)
  const isOpen = choices.isDrawerOpen.value
  const items: readonly MenuItem[] = [
    {
      label: 'Time slider',
      icon: <Icon name="clock" />,
      key: 't',
      why: null,
      isOn: isTimeShown,
      onChoose: () => (isTimeOpen.value = !isTimeShown),
    },
    {
      label: 'Compact the conversation',
      icon: <Icon name="compact" />,
      why: controls.value.compact,
      onChoose: () => onOpen('compact'),
    },
    ...(policies === null
      ? []
      : [
          {
            label: 'Ask a policy',
            icon: <Icon name="policy" />,
            why: controls.value.brake,
            onChoose: () => onOpen('policy'),
          },
        ]),
    ...(inspector.attached.value.connection.may.value('share')
      ? [{ label: 'Create a read-only link', icon: <Icon name="link" />, why: null, onChoose: () => onOpen('share') }]
      : []),
    {
      label: head === null ? 'Fork' : `Fork at the newest message, ${formatNodeId(head)}`,
      icon: <Icon name="fork" />,
      key: 'f',
      why: head === null ? 'No messages yet.' : inspector.whyNotFork.value,
      onChoose: () => onOpen({ fork: head! }),
    },
    ...(source === undefined
      ? []
      : [
          {
            label: 'Compare with its source',
            icon: <Icon name="compare" />,
            why: null,
            onChoose: () => inspector.go({ with: source.agentId }),
          },
        ]),
    {
      label: 'Compare with…',
      icon: <Icon name="compare" />,
      key: 'v',
      why: null,
      onChoose: () => onOpen('compare'),
    },
    {
      label: 'Export…',
      icon: <Icon name="export" />,
      why: status === 'loading' || status === 'error' ? 'The log is not available yet.' : null,
      onChoose: () => onOpen('export'),
    },
    {
      label: 'Stop the agent',
      icon: <Icon name="stop" />,
      why: controls.value.stop,
      isDangerous: true,
      onChoose: () => onOpen('stop'),
    },
  ]
  return (
    <div class="header-actions">
      <button
        type="button"
        class="button quiet drawer-button"
        aria-expanded={isOpen}
        aria-controls="details"
        title="Details (d)"
        onClick={() => (choices.isDrawerOpen.value = !isOpen)}
      >
        <Icon name="drawer" /> Details
      </button>
      <Menu label="Agent actions" items={items}>
        More <Icon name="more" />
      </Menu>
    </div>
  )
}
