import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'

export interface HeaderActionsProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onCompact: () => void
  readonly onAsk: () => void
  readonly onShare: () => void
  readonly onStop: () => void
}

/** What can be done with the agent that is shown. */
export function HeaderActions({ inspector, view, onCompact, onAsk, onShare, onStop }: HeaderActionsProps) {
  const { isRunning, policies, at } = view.state.value
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
      onChoose: onCompact,
    },
    ...(policies === null
      ? []
      : [{ label: 'Ask a policy', icon: <Icon name="policy" />, why: controls.value.brake, onChoose: onAsk }]),
    ...(inspector.attached.value.connection.role.value === 'admin'
      ? [{ label: 'Make a read-only link', icon: <Icon name="link" />, why: null, onChoose: onShare }]
      : []),
    {
      label: 'Stop the agent',
      icon: <Icon name="stop" />,
      why: controls.value.stop,
      isDangerous: true,
      onChoose: onStop,
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
      <Menu label="What can be done with the agent" items={items}>
        More <Icon name="more" />
      </Menu>
    </div>
  )
}
