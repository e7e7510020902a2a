/** A duration for people, such as `420 ms`, `3.1 s`, `4 m 12 s` or `2 h 5 m`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return span(ms);
}

/** A duration in whole seconds and above, such as `0 s`, `58 s`, `4 m 12 s`, `2 h 5 m` or `3 d 4 h`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A duration at a glance, such as `58 s`, `4 m`, `2 h` or `3 d`. */
export function roughly(ms: number): string {
  return span(ms).replace(/^(\d+ [mhd]) .*$/, "$1");
}

/** A size for people, such as `17 B` or `3.4 MiB`. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  let value = count / 1024;
  for (const unit of ["KiB", "MiB", "GiB"]) {
    if (value < 1024) return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)} TiB`;
}

/** A size in MiB whatever it is, for sizes that are compared, such as `0.4 MiB` or `2,048 MiB`. */
export function mebibytes(count: number): string {
  const value = count / 1024 ** 2;
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en")} MiB`;
}

/** A share for people, such as `0.4 %` or `62 %`. */
export function percent(value: number): string {
  return `${value < 10 && value > 0 ? value.toFixed(1) : Math.round(value)} %`;
}
