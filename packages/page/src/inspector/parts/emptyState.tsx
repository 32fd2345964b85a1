import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

/** Placeholder of an empty view: says what is missing, and what to do. */
export const EmptyState = ({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <Icon name={icon} />
    <h2>{title}</h2>
    {children}
  </div>
)
