// What src/export/run_json.c writes.
export interface Run {
	tool: string;
	mode: string;
	rate_hz: number; // 0: as fast as it went
	start_ms: number;
	duration_s: number;
	n_samples: number;
	weight_s: number;
	opcodes: boolean;
	async_aware: boolean;
	stats?: { captured: number; lost: number; late: number; retried: number; salvaged: number };
	processes: { pid: number; command: string; python: string }[];
	threads: { process: number; tid: number; name: string; main: boolean }[];
}
